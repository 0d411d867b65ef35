"""What a link leads to: by path, then by file name, then by title, then by alias.

Names are compared by `lookup_key`, so case and Unicode form never matter. Of several files with the
name, the one in the linking file's folder is meant, or else the one with the shortest path, as in
Obsidian; where that does not decide, the link is ambiguous and all of them are returned.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from vault_kg.records.names import lookup_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Source = Literal["stem", "id", "title", "alias"]


class Candidate(NamedTuple):
    """Something that a link may mean, and the name under which it was found."""

    uid: str
    path: str
    name: str
    source: Source


def names_of(
    uid: str, path: str, title: str | None, aliases: Iterable[str]
) -> list[tuple[Source, str]]:
    """Return the names under which links find a file, each with where it comes from."""
    spellings: list[tuple[Source, str]] = [("stem", _stem(path)), ("id", uid)]
    spellings += [("title", title)] if title else []
    spellings += [("alias", alias) for alias in aliases]
    keyed = ((source, lookup_key(name)) for source, name in spellings)
    return list(dict.fromkeys((source, name) for source, name in keyed if name))


def link_names(target: str) -> tuple[str, ...]:
    """Return the names to look up for a link: its last part without `.md`, and the whole of it.

    A title may hold a slash (`TCP/IP`), so that the last part alone does not find it.
    """
    return tuple(dict.fromkeys((lookup_key(_stem(target.rstrip("/"))), lookup_key(target))))


def choose(target: str, from_path: str, candidates: Sequence[Candidate]) -> list[str]:
    """Return the uids of those candidates that a link means.

    Args:
        target: the link's target as written.
        from_path: the vault-relative path of the file that holds the link.
        candidates: what is known under any of `link_names(target)`.

    Returns:
        one uid where the link is clear, several where it is ambiguous, none where it is broken.
    """
    for wanted in _paths(target, from_path):
        key = _path_key(wanted)
        exact = [found for found in candidates if _path_key(_without_suffix(found.path)) == key]
        if exact:
            literal = [found for found in exact if _without_suffix(found.path) == wanted]
            return _uids(literal or exact)
    suffix = "/" + _path_key(_without_suffix(target).strip("/"))
    stems = [
        found
        for found in candidates
        if found.source == "stem" and f"/{_path_key(_without_suffix(found.path))}".endswith(suffix)
    ]
    if stems:
        return _uids(_nearest(stems, from_path))
    whole = lookup_key(target)
    for source in _BY_NAME:
        named = [found for found in candidates if found.source == source and found.name == whole]
        if named:
            return _uids(named)
    return []


_BY_NAME: Final[tuple[Source, ...]] = ("id", "title", "alias")


def _paths(target: str, from_path: str) -> list[str]:
    """Return the paths that a target may spell: beside the file, then from the vault's root."""
    bare = _without_suffix(target)
    beside = posixpath.join(posixpath.dirname(from_path), bare)
    tried = [bare] if bare.startswith("/") else [beside, bare]
    return [posixpath.normpath(path).lstrip("/") for path in tried]


def _nearest(found: list[Candidate], from_path: str) -> list[Candidate]:
    folder = posixpath.dirname(from_path)
    beside = [one for one in found if posixpath.dirname(one.path) == folder]
    if beside:
        return beside
    depth = min(one.path.count("/") for one in found)
    return [one for one in found if one.path.count("/") == depth]


def _uids(found: Iterable[Candidate]) -> list[str]:
    return list(dict.fromkeys(candidate.uid for candidate in found))


def _path_key(path: str) -> str:
    """Return the form in which paths are compared: each part as a name."""
    return "/".join(lookup_key(part) for part in path.split("/"))


def _stem(path: str) -> str:
    return _without_suffix(path.rpartition("/")[2])


def _without_suffix(path: str) -> str:
    return path[:-3] if path[-3:].lower() == ".md" else path
