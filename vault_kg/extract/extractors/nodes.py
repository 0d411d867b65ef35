"""What every extractor shares: one node for a uid, documentation text, which files are tests."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from vault_kg.extract.confidence import STATED
from vault_kg.extract.model import Edge, Node, Signal

MAX_SUMMARY: Final = 500
_TEST_NAME: Final = re.compile(
    r"(?:test_.*|.*_tests?|conftest)\.(?:py|pyi|go|rs|c|cc|cpp|cxx)|.*\.(?:test|spec)\.[cm]?[jt]sx?"
    r"|(?:Test.*|.*Tests?|.*IT)\.java"
)
_TEST_FOLDERS: Final = frozenset({"test", "tests", "testing", "__tests__", "spec"})


class NodeList:
    """The nodes of a file in order, one for each uid, each contained by another."""

    def __init__(self, extractor: str) -> None:
        self.edges: list[Edge] = []
        self._extractor = extractor
        self._nodes: dict[str, Node] = {}

    def add(self, node: Node, parent: str | None, reason: Signal = STATED) -> None:
        """Add a node; where its uid is known, its lines become another span of that node."""
        known = self._nodes.get(node.uid)
        if known is None:
            self._nodes[node.uid] = node
            if parent is not None:
                signals = (reason,)
                weight = reason.weight
                edge = Edge(
                    parent, node.uid, "contains", weight, self._extractor, node.start_line, signals
                )
                self.edges.append(edge)
        elif node.start_line is not None and node.end_line is not None:
            span = (node.start_line, node.end_line)
            if span != (known.start_line, known.end_line):
                self._nodes[node.uid] = known._replace(
                    other_spans=(*known.other_spans, span),
                    summary=known.summary or node.summary,
                    roles=tuple(dict.fromkeys(known.roles + node.roles)),
                )

    def get(self, uid: str) -> Node | None:
        """Return the node of a uid."""
        return self._nodes.get(uid)

    def amend(self, uid: str, roles: tuple[str, ...], detail: dict[str, str] | None = None) -> None:
        """Add roles, and the details that they ask for, to a node."""
        node = self._nodes[uid]
        self._nodes[uid] = node._replace(
            roles=tuple(dict.fromkeys(node.roles + roles)),
            detail=tuple({**dict(node.detail), **detail}.items()) if detail else node.detail,
        )

    def in_order(self) -> list[Node]:
        """Return the nodes in the order of the file."""
        return sorted(self._nodes.values(), key=lambda node: node.start_line or 0)


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a text on one line, at most 500 characters of it."""
    head = text[: 4 * MAX_SUMMARY].strip().partition("\n\n")[0]
    return " ".join(head.split())[:MAX_SUMMARY]


def is_test_path(path: str) -> bool:
    """Say whether a file holds tests, by the customs of its language."""
    folder, name = posixpath.split(path)
    return bool(_TEST_NAME.fullmatch(name)) or not _TEST_FOLDERS.isdisjoint(folder.split("/"))
