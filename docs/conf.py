"""Sphinx configuration: the reference is made from the docstrings."""

import driftwise

project = "driftwise"
author = "The driftwise authors"
project_copyright = "2026, the driftwise authors"
release = driftwise.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
default_role = "code"
exclude_patterns = ["_build", "templates"]
templates_path = ["templates"]
html_theme = "pydata_sphinx_theme"
html_title = f"driftwise {release}"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
}
# Only the reference has pages below it; the others need the width for their tables.
html_sidebars = {"[!a]*": [], "applications": [], "reference": ["sidebar-nav-bs"]}
html_static_path = ["static"]
html_css_files = ["driftwise.css"]
