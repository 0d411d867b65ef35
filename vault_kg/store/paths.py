"""Paths inside a vault: what is a safe one, and nothing ever outside.

A path is vault-relative POSIX text. What a caller gives is checked as text, to be safe on every
platform (`check_relative`). What is used, a person's own file names among it, is checked against
what the file system holds: no part may climb or be a symbolic link (`resolve`).
"""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path, PurePosixPath

from vault_kg.errors import InvalidArgument, UnsafePath

PRIVATE = ".vault-kg"
DEFAULT_PARTITION = "main"

_LOOK_ALIKES = frozenset("\u2044\u2215\u29f8\uff0f\uff3c\u2216\u29f5\ufe68\u2024\u2025\uff0e")
_CLIMBING = frozenset(["", ".", ".."])
_PRIVATE = frozenset([PRIVATE, ".git", "git~1"])
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))]
)


def check_relative(text: str) -> str:
    """Return a vault-relative POSIX path that is safe on every platform.

    Raises:
        UnsafePath: absolute, climbing, with a NUL, a device name or a separator's look-alike.
    """
    reason = _unsafe_reason(text)
    if reason:
        raise UnsafePath(
            f"{text[:200]!r} is not a path inside the vault: {reason}. Give a relative path with "
            "forward slashes, like main/pages/person/ada.md",
            path=text[:200],
        )
    return str(PurePosixPath(text))


def check_partition(name: str) -> str:
    """Return a partition name: one safe path part that is not hidden."""
    if not name or "/" in name or name.startswith(".") or _unsafe_reason(name):
        raise InvalidArgument(
            f"{name[:200]!r} is not a partition name; use one folder name like 'main'",
            partition=name[:200],
        )
    return name


def resolve(root: Path, relative: str) -> Path:
    """Return the real path of a vault-relative path, none of whose parts is a symbolic link.

    Raises:
        UnsafePath: the path leaves the vault by its text or by a link.
    """
    look(root, relative)
    return root.joinpath(*relative.split("/"))


def look(root: Path, relative: str) -> tuple[str, os.stat_result | None]:
    """Return the real path of a vault-relative path as text, and what is there; None if nothing.

    Raises:
        UnsafePath: the path leaves the vault by its text or by a link.
    """
    parts = relative.split("/")
    if not relative or "\0" in relative or not _CLIMBING.isdisjoint(parts):
        raise UnsafePath(f"{relative[:200]!r} is not a path inside the vault", path=relative[:200])
    current = str(root)
    for part in parts:
        current = f"{current}{os.sep}{part}"
        try:
            found = os.lstat(current)
        except (FileNotFoundError, NotADirectoryError):
            return f"{root}{os.sep}{relative.replace('/', os.sep)}", None
        if stat.S_ISLNK(found.st_mode):
            link = Path(current).relative_to(root)
            raise UnsafePath(
                f"{relative} goes through the symbolic link {link}; records must be regular files "
                "of the vault",
                path=relative,
            )
    return current, found


def _unsafe_reason(text: str) -> str | None:
    if not text or text != text.strip("/") or "\\" in text:
        return "it is empty, absolute or has backslashes"
    if any(ord(c) < 32 or c in _LOOK_ALIKES or 0xD800 <= ord(c) < 0xE000 for c in text):
        return "it has control characters or look-alike separators"
    return next(filter(None, map(_unsafe_part, text.split("/"))), None)


def _unsafe_part(part: str) -> str | None:
    folded = _folded(part)
    if folded in _CLIMBING:
        return "a part of it is empty or climbs"
    if folded.partition(".")[0].rstrip() in _DEVICES:
        return f"{part!r} is a device name on Windows"
    if part.endswith((".", " ")) or any(c in '<>:"|?*' for c in part):
        return f"{part!r} cannot be a file name on Windows"
    if folded in _PRIVATE:
        return f"{part!r} is private"
    return None


def _folded(part: str) -> str:
    """Return a part as the most lenient file system reads it, without invisible characters."""
    if part.isascii():
        return part.lower()
    visible = "".join(c for c in part if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", visible).casefold()
