"""The grammar of uids: made and taken apart here and nowhere else.

    code:file:<path>                    code:module:<name of a module outside the tree>
    code:class:<path>::<Qualified>      code:interface:<path>::<Qualified>
    code:function:<path>::<qualified>   code:method:<path>::<Class.name>
    code:variable:<path>::<qualified>   code:external:<module>:<name>
    doc:file:<path>                     doc:heading:<path>#<slug>:<level>[:<occurrence>]
    folder:<path>                       config:<path>::<key>
    record:<id>

A path is relative to its root, POSIX, without a leading slash; the root itself is `folder:.`. A
qualified name joins names with dots, in every language. A uid never holds a line number, a time or a
hash, so that it stays the same for as long as the name and the path do.

Control characters, half surrogates, and colons where they could be taken for a separator are written
as the bytes `%XX`, and so is a percent sign that two hexadecimal digits follow; all else stands for
itself. Every uid parses back into its parts.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Scheme = Literal["code", "doc", "folder", "config", "record"]

SYMBOL_KINDS: Final = ("class", "interface", "function", "method", "variable")
"""Kinds whose uid names a path and a qualified name."""

_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]|%(?=[0-9A-Fa-f]{2})")
_COLONS: Final = re.compile(r"^:|:$|::+")
_ENCODED: Final = re.compile(r"(?:%[0-9A-F]{2})+")
_HEADING: Final = re.compile(r"(.+)#([^#:]*):([1-6])(?::(\d+))?", re.DOTALL)
_BAD_PART: Final = frozenset({"", ".", ".."})


class Uid(NamedTuple):
    """A uid taken apart; parts that its kind does not have are None or 0."""

    scheme: Scheme
    kind: str
    """The node's kind: `file`, `heading`, `function`, `folder`, `key`, `record` …"""
    path: str | None = None
    name: str | None = None
    """A qualified name, key, slug, record id, or the name of something outside."""
    module: str | None = None
    level: int = 0
    occurrence: int = 0
    """Of headings with the same slug and level: 0 for the first, then 2, 3 …"""


def file(path: str) -> str:
    """Return the uid of a source or configuration file."""
    return f"code:file:{_safe(path)}"


def document(path: str) -> str:
    """Return the uid of a document."""
    return f"doc:file:{_safe(path)}"


def folder(path: str) -> str:
    """Return the uid of a folder; the root is `folder:.`."""
    return f"folder:{_safe(path) or '.'}"


def symbol(kind: str, path: str, qualified: str) -> str:
    """Return the uid of a class, interface, function, method or variable."""
    return f"code:{kind}:{_safe(path)}::{_name(qualified)}"


def symbols(path: str, qualified: str) -> tuple[str, ...]:
    """Return the uids that a qualified name of a file may have, by the order of `SYMBOL_KINDS`."""
    tail = f"{_safe(path)}::{_name(qualified)}"
    return tuple([f"code:{kind}:{tail}" for kind in SYMBOL_KINDS])


def heading(path: str, slug: str, level: int, occurrence: int = 1) -> str:
    """Return the uid of a heading.

    Args:
        path: its document.
        slug: its text as `slug` gives it.
        level: 1 to 6.
        occurrence: 1 for the first heading of the document with this slug and level, then 2, 3 …
    """
    tail = f":{occurrence}" if occurrence > 1 else ""
    return f"doc:heading:{_safe(path)}#{slug}:{level}{tail}"


def key(path: str, name: str) -> str:
    """Return the uid of a key of a configuration file."""
    return f"config:{_safe(path)}::{_name(name)}"


def module(name: str) -> str:
    """Return the uid of a module that no file of the tree is."""
    return f"code:module:{_safe(name)}"


def external(module_name: str | None, name: str) -> str:
    """Return the uid of something outside the tree, or of what is not known to be in it."""
    return f"code:external:{_safe(module_name or '')}:{_name(name).replace(':', '%3A')}"


def record(record_id: str) -> str:
    """Return the uid of a record of the vault."""
    return f"record:{record_id}"


def slug(text: str) -> str:
    """Return a heading's text as GitHub makes an anchor of it: letters of every script are kept."""
    kept = "".join(c for c in text.strip().lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def parse(uid: str) -> Uid | None:
    """Take a uid apart; None if it is none."""
    scheme, _, rest = uid.partition(":")
    match scheme:
        case "folder" if rest:
            return Uid("folder", "folder", path=_plain(rest))
        case "record" if rest:
            return Uid("record", "record", name=rest)
        case "config":
            path, found, name = rest.rpartition("::")
            return Uid("config", "key", _plain(path), _plain(name)) if found and path else None
        case "doc":
            return _document(rest)
        case "code":
            return _code(rest)
    return None


def path_of(uid: str) -> str | None:
    """Return the path of the file or folder that a uid speaks of, None if it names none."""
    found = parse(uid)
    return found.path if found else None


def is_folder(uid: str) -> bool:
    """Say whether a uid names a folder."""
    return uid.startswith("folder:")


def is_record(uid: str) -> bool:
    """Say whether a uid names a record."""
    return uid.startswith("record:")


def is_well_formed(uid: str) -> bool:
    """Say whether a uid keeps to the grammar, its path among it."""
    found = parse(uid)
    if found is None or _UNSAFE.sub("", uid) != re.sub(r"%(?=[0-9A-F]{2})", "", uid):
        return False
    if found.path is None or (found.kind == "folder" and found.path == "."):
        return True
    return not _BAD_PART.intersection(found.path.split("/"))


def _document(rest: str) -> Uid | None:
    kind, _, tail = rest.partition(":")
    if kind == "file" and tail:
        return Uid("doc", "file", _plain(tail))
    match = _HEADING.fullmatch(tail) if kind == "heading" else None
    if match is None:
        return None
    path, anchor, level, occurrence = match.groups()
    return Uid("doc", "heading", _plain(path), anchor, None, int(level), int(occurrence or 0))


def _code(rest: str) -> Uid | None:
    kind, _, tail = rest.partition(":")
    if kind == "file" and tail:
        return Uid("code", "file", _plain(tail))
    if kind == "module" and tail:
        return Uid("code", "module", name=_plain(tail))
    if kind == "external":
        owner, found, name = tail.rpartition(":")
        return Uid("code", "external", None, _plain(name), _plain(owner)) if found else None
    path, found, name = tail.rpartition("::")
    if kind not in SYMBOL_KINDS or not path or not name:
        return None
    return Uid("code", kind, _plain(path), _plain(name))


def _safe(text: str) -> str:
    return _UNSAFE.sub(_encoded, text) if _UNSAFE.search(text) else text


def _name(text: str) -> str:
    text = _safe(text)
    return _COLONS.sub(_encoded, text) if ":" in text else text


def _encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogatepass"))


def _plain(text: str) -> str:
    return _ENCODED.sub(_decoded, text) if "%" in text else text


def _decoded(match: re.Match[str]) -> str:
    raw = bytes.fromhex(match.group().replace("%", ""))
    return raw.decode("utf-8", "surrogatepass")
