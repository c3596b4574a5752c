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
autodoc_typehints = "none"
default_role = "code"
html_theme = "alabaster"
html_theme_options = {"description": "Online decisions in a drifting world", "page_width": "1100px"}
exclude_patterns = ["_build"]
