"""Markdown: the outline of a document, and the files, headings and code that it links to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Final

from vault_kg.extract import uids
from vault_kg.extract.confidence import STATED, STRING
from vault_kg.extract.extractors.nodes import NodeList, first_paragraph
from vault_kg.extract.extractors.text import decoded
from vault_kg.extract.model import Extraction, Node, Reference
from vault_kg.records.blocks import Layout, read_layout
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.records.links import Link, extract_links
from vault_kg.records.markdown import Heading, outline

NAME: Final = "markdown"
_CODE_PATH: Final = re.compile(
    r"(?<!`)`((?:[\w.@+-]+/)+[\w.@+-]+\.[A-Za-z]\w{0,4}|[\w@+-]+\.(?:py|ts|tsx|js|go|rs|java|c|h|cpp|toml))"
    r"(?:::([\w.]+))?`(?!`)"
)
"""A file's path in inline code, perhaps with the name of a symbol in it: `pkg/mod.py::Class.method`."""


class MarkdownExtractor:
    """Reads Markdown files; code blocks hold neither headings nor links."""

    name = NAME
    version = 1
    suffixes = frozenset({".md", ".markdown"})

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return a document's headings and what it links to.

        Raises:
            ExtractorError: it is not text.
        """
        errors: list[str] = []
        body, first_line = _body(content, errors)
        layout = read_layout(body)
        headings = outline(body, first_line, layout=layout)
        last_line = first_line + len(layout.lines) - 1
        document = uids.document(path)
        nodes = NodeList(NAME)
        label = path.rpartition("/")[2]
        nodes.add(Node(document, "file", label, path, 1, last_line, "", _opening(layout)), None)
        sections, levels = _add_headings(path, document, headings, last_line, nodes)
        lines = [heading.line for heading in headings]

        def section(line: int) -> str:
            index = bisect_right(lines, line) - 1
            return sections[index] if index >= 0 else document

        references = [
            _reference(link, section(link.line))
            for link in extract_links(body, first_line, layout=layout)
        ]
        references += [
            Reference(section(line), "references", name, target, line, (STRING,))
            for target, name, line in _code_paths(layout, first_line)
        ]
        unique = {(r.source, r.kind, r.name, r.module): r for r in reversed(references)}
        return Extraction(
            nodes.in_order(), nodes.edges, list(reversed(unique.values())), levels, errors
        )


def _body(content: bytes, errors: list[str]) -> tuple[str, int]:
    """Return the text below the front matter and its first line; of a broken one, all of it."""
    try:
        document = parse(content)
    except FrontMatterError as error:
        errors.append(str(error))
        return decoded(content), 1
    return document.body, document.body_line


def _opening(layout: Layout) -> str:
    for block in layout.blocks:
        if block.kind == "paragraph":
            return first_paragraph(layout.text(block))
    return ""


def _add_headings(
    path: str, document: str, headings: list[Heading], last_line: int, nodes: NodeList
) -> tuple[list[str], dict[str, str]]:
    """Add a node for each heading, and return their uids and the level of each anchor."""
    made: list[str] = []
    levels: dict[str, str] = {}
    seen: Counter[tuple[str, int]] = Counter()
    open_sections: list[tuple[int, str]] = []
    for heading, end in zip(headings, _ends(headings, last_line), strict=True):
        anchor = uids.slug(heading.text)
        seen[anchor, heading.level] += 1
        uid = uids.heading(path, anchor, heading.level, seen[anchor, heading.level])
        levels.setdefault(f"#{anchor}", str(heading.level))
        while open_sections and open_sections[-1][0] >= heading.level:
            open_sections.pop()
        parent = open_sections[-1][1] if open_sections else document
        nodes.add(Node(uid, "heading", heading.text, path, heading.line, end), parent)
        open_sections.append((heading.level, uid))
        made.append(uid)
    return made, levels


def _ends(headings: list[Heading], last_line: int) -> list[int]:
    """Return the last line of each heading's section: before the next heading that is no lower."""
    ends = [last_line] * len(headings)
    open_sections: list[int] = []
    for number, heading in enumerate(headings):
        while open_sections and headings[open_sections[-1]].level >= heading.level:
            ends[open_sections.pop()] = heading.line - 1
        open_sections.append(number)
    return ends


def _reference(link: Link, source: str) -> Reference:
    anchor = f"#{uids.slug(link.heading.rpartition('#')[2])}" if link.heading else ""
    return Reference(source, "links_to", anchor, link.target, link.line, (STATED,))


def _code_paths(layout: Layout, first_line: int) -> Iterator[tuple[str, str, int]]:
    """Give each path in inline code, the symbol that follows it, and its line."""
    for block in layout.blocks:
        if block.kind in ("paragraph", "table", "heading"):
            for number in range(block.start, block.end):
                for match in _CODE_PATH.finditer(layout.lines[number]):
                    yield match.group(1), match.group(2) or "", first_line + number
