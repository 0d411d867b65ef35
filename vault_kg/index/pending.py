"""What a plan under way makes: not in the catalog yet, and to be reckoned with already.

The records of one plan may refer to one another, cite sources that the same plan retains, and must
not take one another's file names.
"""

from __future__ import annotations

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

    def taken(self, folder: str) -> set[str]:
        """Return the names in a folder that the plan's files take, as file systems compare them."""
        return {
            names.file_key(stem(record.path.rpartition("/")[2]))
            for record in self.records.values()
            if record.path.rpartition("/")[0] == folder
        }
