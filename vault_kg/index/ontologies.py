"""The ontologies in force: the built-in one, extended by `ontology.yaml` of vault and partition."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from vault_kg.errors import UnsafePath
from vault_kg.index.walk import ONTOLOGY
from vault_kg.records.ontology import Ontology, load_ontology
from vault_kg.store import files
from vault_kg.store.files import Stamp


@dataclass(frozen=True)
class _Kept:
    stamps: tuple[Stamp | None, Stamp | None]
    ontology: Ontology


class Ontologies:
    """Reads the vault's vocabularies and keeps each until its files change."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: dict[str, _Kept] = {}

    def of(self, partition: str) -> Ontology:
        """Return the ontology in force in a partition; that of "" is the vault's own."""
        own = f"{partition}/{ONTOLOGY}" if partition else None
        stamps = (self._stamp(ONTOLOGY), self._stamp(own) if own else None)
        kept = self._kept.get(partition)
        if kept is None or kept.stamps != stamps:
            text = self.text(own) if own else None
            kept = _Kept(stamps, load_ontology(self.text(ONTOLOGY), text))
            self._kept[partition] = kept
        return kept.ontology

    def _stamp(self, path: str) -> Stamp | None:
        try:
            return files.stamp(self._root, path)
        except (UnsafePath, OSError):
            return None

    def text(self, path: str) -> str | None:
        """Return the YAML of an ontology file, or None where there is none to be read."""
        try:
            content = files.read(self._root, path)
        except (UnsafePath, OSError):
            return None
        return content.decode("utf-8", errors="replace") if content is not None else None

    def fingerprint(self) -> str:
        """Return a hash of every vocabulary in the vault; it changes when any rule may."""
        digest = hashlib.sha256()
        for partition in self.partitions():
            digest.update(self.of(partition).fingerprint.encode())
        return digest.hexdigest()

    def partitions(self) -> list[str]:
        """Return "" for the vault's own vocabulary, and every partition that has one of its own."""
        found = sorted(p.parent.name for p in self._root.glob(f"*/{ONTOLOGY}"))
        return ["", *(name for name in found if not name.startswith("."))]
