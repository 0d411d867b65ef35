"""What an extractor is, and what resolution may ask of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vault_kg.extract.model import Extraction, Node


class ExtractorError(Exception):
    """A file that cannot be read as what its name says; the nodes known of it are kept."""


class GrammarMissing(ImportError):
    """The package of a language's grammar is not installed; only files of that language suffer."""


class Extractor(Protocol):
    """Reads one kind of file. A changed `version` makes every file of it be read again."""

    name: str
    version: int
    suffixes: frozenset[str]

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return what a file holds.

        Args:
            path: relative to its root, POSIX, without a leading slash.
            content: its bytes.

        Raises:
            ExtractorError: it cannot be parsed.
        """
        ...


class SymbolIndex(Protocol):
    """All symbols of the graph, as resolution sees them.

    `symbols.SymbolTable` is one in memory; anything that answers the same serves as well.
    """

    def node(self, uid: str) -> Node | None:
        """Return the node of a uid, perhaps without its signature and summary."""
        ...

    def first(self, uids: Sequence[str]) -> Node | None:
        """Return the node of the first of these uids that has one."""
        ...

    def labelled(self, label: str) -> Sequence[Node]:
        """Return the nodes of a label, those of one file in the order of the file."""
        ...

    def has_path(self, path: str) -> bool:
        """Say whether a file is part of the graph."""
        ...

    def paths_ending(self, suffix: str) -> Sequence[str]:
        """Return the files whose path is, or ends in a slash and, these parts."""
        ...

    def exported(self, path: str, name: str) -> str | None:
        """Return what a name of a file stands for (`Extraction.exports`), or None."""
        ...
