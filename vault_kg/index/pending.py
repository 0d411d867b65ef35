"""What a plan under way makes: not in the catalog yet, and to be reckoned with already.

The records of one plan may refer to one another, cite sources that the same plan retains, and must
not take one another's file names.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_kg.index.parsed import stem
from vault_kg.records import names


class PendingRecord(NamedTuple):
    """A record that the plan creates."""

    kind: str
    type: str | None
    path: str
    partition: str


@dataclass
class Pending:
    """The records and sources that a plan creates; it grows while the plan is made."""

    sources: dict[str, str] = field(default_factory=dict)
    """Texts by source id."""
    records: dict[str, PendingRecord] = field(default_factory=dict)

    def page_type(self, record_id: str) -> str | None:
        """Return the type of a page that the plan creates, or None where it creates no such page."""
        found = self.records.get(record_id)
        return (found.type or "Entity") if found and found.kind == "page" else None

    _folders: dict[str, _Folder] = field(default_factory=dict, init=False, repr=False)

    def add(self, record_id: str, made: PendingRecord) -> None:
        """Reckon with a record that the plan creates."""
        self.records[record_id] = made
        folder, _, name = made.path.rpartition("/")
        if folder in self._folders:
            self._folders[folder].made[_key(name)] = record_id

    def taken(self, folder: str, look: Callable[[], Iterable[str]]) -> Container[str]:
        """Return the names in a folder that files and the plan have, as file systems compare them.

        Args:
            folder: vault-relative.
            look: returns the names of the files that are there; called once for each folder.
        """
        if folder not in self._folders:
            made = {
                _key(record.path.rpartition("/")[2]): record_id
                for record_id, record in self.records.items()
                if record.path.rpartition("/")[0] == folder
            }
            self._folders[folder] = _Folder(_keys(look()), made, self.records)
        return self._folders[folder]


@dataclass
class _Folder:
    """The names in one folder."""

    present: frozenset[str]
    made: dict[str, str]
    """The record of each name that the plan makes; it has it for as long as the plan has the record."""
    records: dict[str, PendingRecord]

    def __contains__(self, key: object) -> bool:
        return key in self.present or self.made.get(str(key)) in self.records


def _key(name: str) -> str:
    return names.file_key(stem(name))


def _keys(found: Iterable[str]) -> frozenset[str]:
    """Return the keys of many names at once; no name holds the NUL that keeps them apart."""
    folded = names.file_key("\0".join(found))
    return frozenset(name.removesuffix(".md") for name in folded.split("\0"))
