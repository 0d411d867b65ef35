"""The files that a person wants read, and the names that they are known by."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.index.parsed import in_sources
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.records.model import is_record

ENDINGS = (".md", ".markdown", ".txt", ".json")
MAX_BYTES = 2_000_000


class File(NamedTuple):
    """A file, and its name in results and citations: its path as seen from the vault."""

    path: Path
    name: str


def gather(paths: Iterable[Path], root: Path) -> list[File]:
    """Return the files to be read: those that are named, and the texts in folders that are.

    In a folder, hidden files, records, retained sources and files of other kinds are passed over.

    Args:
        paths: files and folders.
        root: the vault's folder.

    Raises:
        NotFound: there is no such file or folder.
    """
    found: dict[str, File] = {}
    for path in paths:
        if not path.exists():
            raise NotFound(f"there is no file or folder {path}", path=str(path))
        for each in _inside(path, root) if path.is_dir() else [path]:
            file = File(each, _name(each, root))
            found.setdefault(file.name, file)
    return list(found.values())


def read(path: Path) -> str:
    """Return the text of a file.

    Raises:
        InvalidArgument: it is no text in UTF-8, too large, or cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or device may never end
            raise InvalidArgument(f"{path} is not a regular file; give one", path=str(path))
        content = path.read_bytes()
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}", path=str(path)) from None
    if len(content) > MAX_BYTES:
        raise InvalidArgument(
            f"{path} has {len(content):,} bytes; texts of at most {MAX_BYTES:,} are read",
            path=str(path),
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{path} is no text in UTF-8 (byte {error.start})", path=str(path)
        ) from None


def _inside(folder: Path, root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".") or not name.lower().endswith(ENDINGS) or not path.is_file():
                continue
            if not in_sources(_name(path, root)) and not _is_record(path):
                yield path


def _name(path: Path, root: Path) -> str:
    """Return a path as seen from the vault, so that it is the same from every folder."""
    return Path(os.path.relpath(path.resolve(), root.resolve())).as_posix()


def _is_record(path: Path) -> bool:
    try:
        return is_record(parse(path.read_bytes()))
    except (FrontMatterError, OSError):
        return False
