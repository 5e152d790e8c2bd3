"""Sphinx's configuration of the site; build.py runs it on the pages as they are."""
import sys
from pathlib import Path

import sphinx.search

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))
import tree

project = (tree.ROOT / "README.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
html_title = project
language = "en"
root_doc = "index"
extensions = ["myst_parser", "rewrite", "listings", "search_data"]

# GitHub's Markdown and nothing else; headings have GitHub's anchors.
myst_gfm_only = True
myst_enable_extensions = ["html_image"]  # the thumbnails of beyond/README.md are images like others
myst_heading_anchors = 6
myst_heading_slug_func = "links.anchor_of"
suppress_warnings = ["myst.header"]  # a page may go from ## to ####

highlight_language = "text"
smartquotes = False
html_theme = "furo"
html_permalinks_icon = "#"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
templates_path = ["templates"]
stemmer = Path(sphinx.search.__file__).parent / "minified-js"
html_static_path = ["static", str(stemmer / "base-stemmer.js"), str(stemmer / "english-stemmer.js")]
html_css_files = ["site.css"]
html_js_files = ["beside.js"]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark-high-contrast"
html_theme_options = {"source_view_link": ""}
html_context = {"repository": tree.repository()}
