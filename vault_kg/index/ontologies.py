"""The ontologies in force: the built-in one, extended by `ontology.yaml` of vault and partition."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from vault_kg.errors import UnsafePath
from vault_kg.index.walk import ONTOLOGY
from vault_kg.records.field_types import Origin
from vault_kg.records.ontology import Ontology, OntologyIssue, load_ontology
from vault_kg.store import files
from vault_kg.store.files import Stamp

_Read = tuple[str | None, OntologyIssue | None]
"""The YAML of an ontology file, and why it cannot be read."""


@dataclass(frozen=True)
class _Kept:
    stamps: tuple[Stamp | None, Stamp | None] | None
    """None where a file could not be read: it is tried again."""
    read: tuple[_Read, _Read]
    ontology: Ontology


class Ontologies:
    """Reads the vault's vocabularies and keeps each until its files change."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: dict[str, _Kept] = {}
        self._held = threading.local()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Take each vocabulary as it is when this thread first asks for it: a plan has one only."""
        self._held.seen = {}
        try:
            yield
        finally:
            self._held.seen = None

    def of(self, partition: str) -> Ontology:
        """Return the ontology in force in a partition; that of "" is the vault's own."""
        seen: dict[str, Ontology] | None = getattr(self._held, "seen", None)
        if seen is None:
            return self._now(partition)
        if partition not in seen:
            seen[partition] = self._now(partition)
        return seen[partition]

    def _now(self, partition: str) -> Ontology:
        own = f"{partition}/{ONTOLOGY}" if partition else None
        stamps = (self._stamp(ONTOLOGY), self._stamp(own) if own else None)
        kept = self._kept.get(partition)
        if kept is None or kept.stamps != stamps:
            read = self._read(ONTOLOGY, "vault"), self._read(own, "partition")
            ontology = kept.ontology if kept and kept.read == read else _load(read)
            unread = any(issue is not None for _, issue in read)
            kept = self._kept[partition] = _Kept(None if unread else stamps, read, ontology)
        return kept.ontology

    def _stamp(self, path: str) -> Stamp | None:
        try:
            return files.stamp(self._root, path)
        except (UnsafePath, OSError):
            return None

    def text(self, path: str) -> str | None:
        """Return the YAML of an ontology file, or None where there is none to be read."""
        return self._read(path, "vault")[0]

    def _read(self, path: str | None, source: Origin) -> _Read:
        try:
            content = files.read(self._root, path) if path else None
        except (UnsafePath, OSError) as error:
            if not self._is_there(str(path)):
                return None, None
            reason = error.message if isinstance(error, UnsafePath) else error.strerror
            message = f"the file cannot be read: {reason}"
            return None, OntologyIssue("unreadable_manifest", message, source, 1, "error")
        return content.decode("utf-8", errors="replace") if content is not None else None, None

    def _is_there(self, path: str) -> bool:
        """Say whether there is a file; what is behind a link is no partition."""
        folder, _, _ = path.rpartition("/")
        return os.path.lexists(self._root / path) and not (
            folder and os.path.islink(self._root / folder)  # noqa: PTH114 - it never raises
        )

    def fingerprint(self) -> str:
        """Return a hash of every vocabulary in the vault; it changes when any judgement may."""
        digest = hashlib.sha256()
        for partition in self.partitions():
            ontology = self.of(partition)
            digest.update(ontology.fingerprint.encode())
            faults = [repr(issue) for issue in ontology.issues if issue.costs]
            digest.update("".join(faults).encode())
        return digest.hexdigest()

    def partitions(self) -> list[str]:
        """Return "" for the vault's own vocabulary, and every partition that has one of its own."""
        found = sorted(p.parent.name for p in self._root.glob(f"*/{ONTOLOGY}"))
        return ["", *(name for name in found if not name.startswith("."))]


def _load(read: tuple[_Read, _Read]) -> Ontology:
    """Return the ontology of the vault's file and a partition's, with what cannot be read."""
    ontology = load_ontology(*(text for text, _ in read))
    unread = tuple(issue for _, issue in read if issue is not None)
    return replace(ontology, issues=(*unread, *ontology.issues)) if unread else ontology
