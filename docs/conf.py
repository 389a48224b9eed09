"""Configuration of the documentation site: ``make docs`` builds it into ``build/docs``."""

from __future__ import annotations

import sys
from pathlib import Path

import suffice

sys.path.insert(0, str(Path(__file__).with_name("_extensions")))

project = "Suffice"
author = "The Suffice developers"
copyright = "The Suffice developers. BSD-3-Clause license"  # noqa: A001 (the name is Sphinx's)
version = release = suffice.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "code_blocks",
    "greek_search",
    "index_words",
    "mathml",
    "page_details",
    "public_members",
]
exclude_patterns = ["_extensions", "_templates"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]

# Pages
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4  # as on GitHub, so that a link works in both places
myst_dmath_double_inline = False
suppress_warnings = ["myst.xref_ambiguous"]
smartquotes = False  # quotes in the types of parameters are code
copybutton_prompt_text = r">>> |\.\.\. ?|\$ |> "
copybutton_prompt_is_regexp = True

# Words that readers search for, and the page that answers them
index_words = {
    "algebra": ["unlearn", "remove rows", "merge models"],
    "calibration": ["overconfident", "reliability diagram"],
    "comparison": ["learning curve", "logistic regression or naive Bayes"],
    "cross_validation": ["cross-validation", "leave-one-out"],
    "estimation": ["overfitting", "regularisation", "regularization"],
    "imbalance": ["class imbalance", "imbalanced classes", "rare classes", "class weights"],
    "index": ["license", "licence"],
    "missing_values": ["NaN", "missing data", "imputation"],
    "models/gaussian_discriminant_analysis": ["GDA", "LDA", "QDA"],
    "models/index": ["tutorial for students", "exercise", "course", "lecture notes"],
    "models/naive_bayes": ["Bayes' theorem", "Bayes' rule"],
    "plotting": ["ROC AUC", "ROC curve", "feature importance", "confusion matrix"],
    "spam_filter": ["false positives", "whitelist", "IMAP", "mailbox"],
    "start": ["tutorial", "quickstart", "getting started", "fit", "predict", "predict_proba"],
    "streams": ["online learning", "concept drift", "incremental learning", "partial_fit"],
}

# Reference
default_role = "py:obj"
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's sections have the types
numpydoc_show_class_members = False
read_more = {  # pages that explain a class or function
    "suffice.AveragedDependence": ["averaged_dependence"],
    "suffice.GaussianDiscriminant": ["models/gaussian_discriminant_analysis", "plotting", "parameters"],
    "suffice.GenerativeEnsemble": ["ensemble", "quality"],
    "suffice.NaiveBayes": ["mixed_tables", "models/naive_bayes", "estimation"],
    "suffice.TextNaiveBayes": ["spam_filter", "text", "models/text"],
    "suffice.diagnose": ["assumptions"],
    "suffice.fit": ["files"],
    "suffice.load": ["model_files"],
    "suffice.merge": ["algebra"],
}
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"

# Everything is in the folder: no request leaves the machine, and search works from disk.
html_theme = "pydata_sphinx_theme"
html_title = "Suffice"
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for files
html_search_scorer = str(Path(__file__).with_name("_extensions") / "search_order.js")
html_sidebars = {"index": [], "start": [], "cheat_sheet": [], "command": []}
html_theme_options = {
    "logo": {"text": "Suffice"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
