"""The text of a commit: who, when, the message and its trailers, written and read back.

Nothing that a caller gives can add a header line or a trailer of its own making.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vault_kg.errors import InvalidArgument
from vault_kg.store.git_process import COMMITTER_EMAIL, COMMITTER_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST_LINE = 200
_LATEST = 253402300799  # the last second that a datetime can hold
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*):[ \t]*(.*)")
_IDENT = re.compile(rb"(.*) <([^<>]*)> (-?\d+) [-+]\d{4}")


@dataclass(frozen=True)
class ParsedCommit:
    """What a commit object says."""

    tree: str
    parents: tuple[str, ...]
    author: bytes
    committer: bytes
    message: str

    @property
    def at(self) -> datetime:
        """When it was committed."""
        return datetime.fromtimestamp(self.committed, UTC)

    @property
    def committed(self) -> int:
        """When it was committed, in seconds of the epoch."""
        return _seconds(self.committer)

    @property
    def authored_by(self) -> tuple[str, str]:
        """The author's name and address."""
        return _person(self.author)

    @property
    def committed_by(self) -> tuple[str, str]:
        """The committer's name and address."""
        return _person(self.committer)

    @property
    def subject(self) -> str:
        """The first paragraph of the message, on one line."""
        return " ".join(self.message.lstrip("\n").split("\n\n", 1)[0].split())

    @property
    def trailers(self) -> list[tuple[str, str]]:
        """The trailers of the message, in order."""
        return trailers_of(self.message)

    @property
    def joined_trailers(self) -> list[list[tuple[str, str]]]:
        """The trailers of each message that was joined into this one, in order."""
        return joined_trailers_of(self.message)


def format_commit(
    tree: str, parents: Sequence[str], author: bytes, committer: bytes, message: bytes
) -> bytes:
    """Return the bytes of a commit object."""
    lines = [b"tree " + tree.encode()]
    lines += [b"parent " + parent.encode() for parent in parents]
    lines += [b"author " + author, b"committer " + committer, b"", message]
    return b"\n".join(lines)


def parse_commit(data: bytes) -> ParsedCommit:
    """Read the bytes of a commit object."""
    head, _, message = data.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        fields.setdefault(key, []).append(value)
    encoding = fields.get(b"encoding", [b"utf-8"])[0].decode("ascii", "replace")
    return ParsedCommit(
        tree=fields[b"tree"][0].decode(),
        parents=tuple(parent.decode() for parent in fields.get(b"parent", [])),
        author=fields.get(b"author", [b""])[0],
        committer=fields.get(b"committer", [b""])[0],
        message=_decode(message, encoding),
    )


def format_person(name: str, email: str, at: datetime) -> bytes:
    """Return an author or committer as a commit header holds it.

    Line breaks, angle brackets and control characters are taken out; an empty name becomes
    `unknown`. The time is in UTC.

    Raises:
        InvalidArgument: The time has no zone.
    """
    if at.tzinfo is None:
        raise InvalidArgument("the time of a commit needs its zone: give it in UTC", at=str(at))
    clean_name = _one_line(name.translate(_BRACKETS)).strip(" .,:;\"'\\") or "unknown"
    clean_email = _one_line(email.translate(_BRACKETS)).replace(" ", "")
    seconds = max(0, int(at.timestamp()))
    return _encode(f"{clean_name} <{clean_email}> {seconds} +0000")


def committer_at(at: datetime) -> bytes:
    """Return ourselves as a committer."""
    return format_person(COMMITTER_NAME, COMMITTER_EMAIL, at)


def format_message(subject: str, body: str, trailers: Iterable[tuple[str, str]]) -> bytes:
    """Return a commit message: a subject of one line, the body, and a last paragraph of trailers.

    Raises:
        InvalidArgument: A trailer is not of one line, or its key is not letters and hyphens.
    """
    last = "\n".join(_trailer(key, value) for key, value in trailers)
    text = body.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    if not last and trailers_of(f"-\n\n{text}"):
        # A body must not pass for trailers that nobody gave.
        before, gap, paragraph = text.rpartition("\n\n")
        text = before + gap + "\n".join(f" {line}" for line in paragraph.split("\n"))
    paragraphs = [_one_line(subject) or "vault-kg", text, last]
    return _encode("\n\n".join(filter(None, paragraphs)) + "\n")


def trailers_of(message: str) -> list[tuple[str, str]]:
    """Return the trailers of a message: its last paragraph, if every line of it is one."""
    _, found, last = message.rstrip("\n").rpartition("\n\n")
    return _as_trailers(last) if found else []


def joined_trailers_of(message: str) -> list[list[tuple[str, str]]]:
    """Return the trailers of each message of which one was made, as by squashing, in order."""
    paragraphs = message.rstrip("\n").split("\n\n")[1:]
    return [trailers for text in paragraphs if (trailers := _as_trailers(text.strip("\n")))]


def _as_trailers(paragraph: str) -> list[tuple[str, str]]:
    matches = [_TRAILER.fullmatch(line) for line in paragraph.split("\n")]
    if not all(matches):
        return []
    return [(match[1], match[2].rstrip()) for match in matches if match]


def _trailer(key: str, value: str) -> str:
    if not _KEY.fullmatch(key):
        raise InvalidArgument(f"{key!r} cannot be the key of a trailer", key=key)
    if any(character in value for character in "\n\r\0"):
        raise InvalidArgument(f"the trailer {key} is not of one line: escape its value", key=key)
    return f"{key}: {value}"


def _one_line(text: str) -> str:
    spaced = (" " if unicodedata.category(c) in _UNPRINTED else c for c in text)
    line = " ".join("".join(spaced).split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1].rstrip() + "…"


_UNPRINTED = {"Cc", "Zl", "Zp"}
_BRACKETS = str.maketrans("<>", "  ")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _seconds(ident: bytes) -> int:
    match = _IDENT.fullmatch(ident)
    return min(max(0, int(match[3])), _LATEST) if match else 0


def _person(ident: bytes) -> tuple[str, str]:
    match = _IDENT.fullmatch(ident)
    if match is None:
        return ident.decode("utf-8", "replace"), ""
    return match[1].decode("utf-8", "replace"), match[2].decode("utf-8", "replace")
