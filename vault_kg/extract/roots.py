"""The folders whose trees the graph mirrors: the vault itself, and those that `vault.toml` lists.

    [[graph.roots]]
    path = "../project"        # from the vault's folder, or absolute
    name = "project"           # left out: the folder's name

A uid names a path from its root, so that moving the folder changes none.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.index import walk
from vault_kg.index.parsed import is_statement, partition_of
from vault_kg.store import vault as vaults

VAULT = "vault"
"""The name of the root that is the vault's own folder."""

RECORDS = "records"
"""The name under which the records stand: a root without files."""


@dataclass(frozen=True)
class Root:
    """A folder of which there is a graph."""

    name: str
    folder: Path
    inner: tuple[str, ...] = ()
    """Folders in it that are roots themselves, from here; what is in them is theirs."""
    in_vault: str | None = None
    """Where it lies in the vault, if it does, with a slash at the end; partitions count there."""

    @property
    def is_vault(self) -> bool:
        """Whether it is the vault's own folder."""
        return self.name == VAULT

    @property
    def package(self) -> str | None:
        """What its files call it, where the folder is a package of Python; else None."""
        with contextlib.suppress(OSError):
            return self.folder.name if (self.folder / "__init__.py").is_file() else None
        return None

    def partition(self, path: str) -> str | None:
        """Return the partition that a file belongs to; None where everybody sees it."""
        return None if self.in_vault is None else partition_of(self.in_vault + path)

    def holds(self, path: str) -> bool:
        """Say whether a path of this root may be part of the graph.

        Retained sources are not, nor the files of claims and relationships: these are records, and
        may be about something that not everybody sees.
        """
        folder, slash, _ = path.rpartition("/")
        if walk.SKIPPED.intersection(folder.split("/")):
            return False
        if any(path.startswith(inner + "/") for inner in self.inner):
            return False
        if self.in_vault is not None and is_statement(self.in_vault + path):
            return False
        return not (self.is_vault and walk.is_among_sources(folder + slash))

    def relative(self, path: Path) -> str | None:
        """Return a path from the root, "" for the root itself; None if it lies outside."""
        try:
            found = path.relative_to(self.folder).as_posix()
        except ValueError:
            return None
        return "" if found == "." else found


def of(vault: Path) -> list[Root]:
    """Return the roots of a vault, its own folder first.

    Raises:
        InvalidArgument: `vault.toml` lists something that is no root.
    """
    folders = {VAULT: vault}
    for listed in _listed(vault):
        name, folder = _root(vault, listed)
        if name in folders or name == RECORDS:
            raise InvalidArgument(
                f"{vaults.CONFIG}: two roots of the graph are named {name!r}; give one of them "
                "another name",
                name=name,
            )
        folders[name] = folder
    real = {name: folder.resolve() for name, folder in folders.items()}
    return [_placed(name, folder, real) for name, folder in folders.items()]


def _placed(name: str, folder: Path, real: dict[str, Path]) -> Root:
    """Return a root that knows which others lie in it, and whether it lies in the vault."""
    mine = real[name]
    inner = [other.relative_to(mine) for other in real.values() if mine in other.parents]
    inside = mine.relative_to(real[VAULT]) if mine.is_relative_to(real[VAULT]) else None
    return Root(
        name, folder, tuple(sorted(path.as_posix() for path in inner)),
        None if inside is None else "" if inside == Path() else f"{inside.as_posix()}/",
    )  # fmt: skip


def named(vault: Path, name: str) -> Root:
    """Return a root by name.

    Raises:
        NotFound: there is none.
    """
    every = {root.name: root for root in of(vault)}
    if name not in every:
        raise NotFound(f"there is no root {name!r}; there are {', '.join(every)}", name=name)
    return every[name]


def around(vault: Path, path: Path) -> tuple[Root, str] | None:
    """Return the root that holds a path, the innermost of several, and the path in it."""
    wanted = Path(os.path.abspath(path))  # noqa: PTH100 - links in it are kept
    found = [
        (root, relative)
        for root in of(vault)
        if (relative := root.relative(wanted)) is not None
        or (relative := root.relative(wanted.resolve())) is not None
    ]
    return max(found, key=lambda each: len(each[0].folder.parts), default=None)


def add(vault: Path, folder: Path) -> Root:
    """List a folder in `vault.toml`; what stands there is left as it is.

    Raises:
        InvalidArgument: it is no folder.
    """
    if not folder.is_dir():
        raise InvalidArgument(f"{folder} is not a folder", path=str(folder))
    wanted = folder.resolve()
    taken = {root.name for root in of(vault)} | {RECORDS}
    name = next(n for n in _free_names(wanted.name or "root") if n not in taken)
    config = vault / vaults.CONFIG
    text = config.read_text(encoding="utf-8")
    gap = "" if text.endswith("\n") else "\n"
    shown = Path(os.path.relpath(wanted, vault.resolve())).as_posix()
    entry = f"{gap}\n[[graph.roots]]\npath = {_quoted(shown)}\nname = {_quoted(name)}\n"
    config.write_text(text + entry, encoding="utf-8")
    return named(vault, name)


def _listed(vault: Path) -> list[Any]:
    graph = vaults.settings_of(vault).get("graph", {})
    listed = graph.get("roots", []) if isinstance(graph, dict) else []
    return listed if isinstance(listed, list) else []


def _root(vault: Path, listed: Any) -> tuple[str, Path]:
    said = {"path": listed} if isinstance(listed, str) else listed
    path = said.get("path") if isinstance(said, dict) else None
    name = said.get("name") if isinstance(said, dict) else None
    if not isinstance(path, str) or not path or not isinstance(name, str | None):
        raise InvalidArgument(
            f'{vaults.CONFIG}: a root of the graph needs a path, as in [[graph.roots]] path = "../x"'
        )
    folder = Path(os.path.abspath(vault / path))  # noqa: PTH100 - links in it are kept
    if folder.resolve() == vault.resolve():
        raise InvalidArgument(f"{vaults.CONFIG}: {path!r} is the vault, which is a root already")
    return name or folder.name, folder


def _free_names(name: str) -> list[str]:
    return [name, *(f"{name}-{number}" for number in range(2, 1_000))]


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
