"""Which files of a root are read, and by what: asked once for each folder and each ending."""

from __future__ import annotations

from vault_kg.extract.protocol import Extractor
from vault_kg.extract.reading import ExtractorFor
from vault_kg.extract.roots import Root


class Wanted:
    """Answers for one run over a root, and remembers the answers."""

    def __init__(self, root: Root, extractor_for: ExtractorFor) -> None:
        self._root = root
        self._extractor_for = extractor_for
        self._by_name: dict[str, Extractor | None] = {}
        """By a name with the same ending."""
        self._held: dict[str, bool] = {}

    def __call__(self, name: str, prefix: str) -> bool:
        """Say whether a file is wanted: its name, and its folder with a slash at the end."""
        if self.extractor(name) is None:
            return False
        held = self._held.get(prefix)
        if held is None:
            held = self._held[prefix] = self._root.holds(prefix + name)
        return held

    def extractor(self, name: str) -> Extractor | None:
        """Return what reads a file of a name (without its folder), or None."""
        like = (
            name if name[:1] == "." else "x" if (dot := name.rfind(".")) < 0 else f"x{name[dot:]}"
        )
        if like not in self._by_name:
            self._by_name[like] = self._extractor_for(like)
        return self._by_name[like]

    def marks(self) -> dict[str, str]:
        """Return who reads the names that were asked for: while it is so, the answers hold."""
        return {like: _mark(by) for like, by in self._by_name.items()}

    def hold(self, marks: dict[str, str]) -> bool:
        """Say whether the answers still hold that were given under these marks."""
        return all(_mark(self.extractor(like)) == mark for like, mark in marks.items())


def _mark(by: Extractor | None) -> str:
    return f"{by.name} {by.version}" if by is not None else ""
