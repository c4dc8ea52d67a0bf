# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: `./dev docs`. Its sources are all pages of docs/, which are also readable one by one."""
import os
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).resolve().parents[2]

project = "Terrazzo"
author = "The Terrazzo authors"
project_copyright = author
version = release = ".".join(re.findall(r"#define TERRAZZO_VERSION_\w+ (\d+)", (ROOT / "include/terrazzo/version.hpp").read_text()))

extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["README.md", "notes"]
root_doc = "index"
default_role = "code"  # docstrings mark names with single backticks

myst_heading_anchors = 4  # links such as page.md#section, as on GitHub
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 120

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = f"Terrazzo {release}"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "navbar_align": "left", "secondary_sidebar_items": ["page-toc"]}


class LinksToTheRepository(SphinxPostTransform):
    """Links of pages to files and folders outside docs/ become their names: the site does not have those files."""

    default_priority = 5

    def run(self, **_):
        page = Path(self.env.doc2path(self.env.docname))
        for node in list(self.document.findall(lambda node: isinstance(node, (addnodes.pending_xref, addnodes.download_reference)))):
            file = Path(os.path.normpath(page.parent / node["reftarget"].split("#")[0]))
            exists = file.exists() or file.with_name(f"{file.name}.md").exists()  # links to pages come without their suffix
            if node.get("refdomain") != "py" and exists and not self.on_the_site(file):
                node.replace_self(nodes.literal("", node.astext()))

    @staticmethod
    def on_the_site(file):
        parts = file.relative_to(ROOT).parts
        return parts[0] == "docs" and parts[1:2] != ("notes",)


def setup(app):
    app.add_post_transform(LinksToTheRepository)
