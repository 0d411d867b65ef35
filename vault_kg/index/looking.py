"""Looking at files: each is read, hashed and parsed, or it is said why not.

Where many files changed, as on the first index, processes of their own look at them ahead of the
one that writes. What they saw is checked against the file's stamp before it is used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from vault_kg.errors import UnsafePath
from vault_kg.index import readers
from vault_kg.index.parsed import NOTE, Looked, parse_file
from vault_kg.index.source_text import with_text
from vault_kg.records.model import Problem
from vault_kg.store import files
from vault_kg.store.files import Stamp

BATCH = 500
"""Files taken in by one transaction."""


class Same(NamedTuple):
    """A file whose bytes are those that the index knows, whatever its stamp says."""

    stamp: Stamp
    seen_ns: int


Seen = Looked | Same | Problem | None
"""What is at a path; None where there is no file."""

Asked = tuple[str, str | None]
"""A vault-relative path, and the hash that the index has of it."""


def look(root: Path, path: str, known: str | None = None) -> Seen:
    """Look at one file.

    Args:
        root: the vault's folder.
        path: the file.
        known: the hash that the index has of it; a file that still has it is not parsed.
    """
    seen_ns = time.time_ns()
    try:
        stamp = files.stamp(root, path)
        content = files.read(root, path) if stamp is not None else None
    except (UnsafePath, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        said = f"the file cannot be read: {reason}"
        return Problem("unreadable", said, hint="make it a readable, regular file")
    if stamp is None or content is None:
        return None
    content_hash = files.content_hash(content)
    if content_hash == known:
        return Same(stamp, seen_ns)
    parsed = with_text(root, parse_file(path, content))
    if parsed.kind == NOTE:
        return Looked(b"", replace(parsed, document=None), content_hash, stamp, seen_ns)
    return Looked(content, parsed, content_hash, stamp, seen_ns)


def look_ahead(root: Path, asked: Sequence[Asked]) -> Iterator[tuple[list[str], dict[str, Seen]]]:
    """Yield the files of each transaction to come, with what was seen of them.

    Few files are not looked at ahead: the caller does so when it takes them in.
    """
    batches = [asked[start : start + BATCH] for start in range(0, len(asked), BATCH)]
    if len(asked) < readers.WORTHWHILE or (count := readers.useful()) < 2:
        for batch in batches:
            yield [path for path, _ in batch], {}
        return
    with readers.Readers(root, count) as pool:
        yield from (([path for path, _ in b], seen) for b, seen in pool.read(batches))
