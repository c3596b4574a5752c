"""Sphinx configuration: the reference is made from the docstrings, the gallery from the examples."""

import inspect
import os
from typing import Any

import driftwise

os.environ["MPLBACKEND"] = "Agg"

project = "driftwise"
author = "The driftwise authors"
project_copyright = "2026, the driftwise authors"
release = driftwise.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
default_role = "code"
exclude_patterns = ["_build", "templates", "sg_execution_times.rst"]
templates_path = ["templates"]
# Made at every build: which examples ran in how much time.
suppress_warnings = ["config.cache"]
html_theme = "pydata_sphinx_theme"
html_title = f"driftwise {release}"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"index": [], "gallery/index": [], "**": ["page-toc"]},
}
# The landing page, and pages that have no section of their own beside them, need no sidebar.
html_sidebars = {"index": [], "releases": [], "**": ["sidebar-nav-bs"]}
html_static_path = ["static"]
html_css_files = ["driftwise.css"]
# For programs that read documentation: https://llmstxt.org.
html_extra_path = ["../llms.txt"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Every example runs, but one that starts and kills processes; the tests run that one too.
    "filename_pattern": r"/(?!fleet_on_dask)\w+\.py$",
    "ignore_pattern": r"__init__\.py",
    "only_warn_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 60,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "within_subsection_order": "FileNameSortKey",
}


def skip_what_is_documented_elsewhere(
    app: Any, what: str, name: str, found: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what a class has from another package, which documents it, and links to pages that are not here."""
    written = inspect.unwrap(getattr(found, "fget", None) or found)
    package = str(getattr(written, "__module__", None) or "driftwise").partition(".")[0]
    return None if package == "driftwise" else True


def setup(app: Any) -> None:
    """Connect what is defined here."""
    app.connect("autodoc-skip-member", skip_what_is_documented_elsewhere)
