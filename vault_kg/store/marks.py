"""Marks: named positions of a partition's part of the journal, each with a Git reference.

The state has them. A mark gets its reference once Git has what it names, and comes back by that
where the state is lost.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from vault_kg.errors import VaultError
from vault_kg.state import journal as rows
from vault_kg.state import settings
from vault_kg.state.database import Database

if TYPE_CHECKING:
    from vault_kg.store.git import History

REFS = "refs/vault-kg/marks/"
_SETTING = "mark:"


@dataclass(frozen=True)
class Mark:
    """A named position: the newest entry of a partition, and the commit that has it."""

    seq: int | None
    """None where there was no entry."""
    commit: str | None = None
    """None until Git has the entry and the reference."""
    at: str | None = None
    actor: str | None = None


def every(database: Database, history: History, partition: str) -> dict[str, Mark]:
    """Return the marks of a partition by name: those of the state, and those that only Git has."""
    found = {
        name: Mark(rows.of_commit(database, commit), commit)
        for name, commit in _in_git(history, partition).items()
    }
    prefix = _key(partition, "")
    stated = settings.beginning(database, prefix)
    return found | {key.removeprefix(prefix): _read(text) for key, text in stated.items()}


def put(database: Database, history: History, partition: str, name: str, mark: Mark) -> Mark:
    """Keep a mark; returns it with its commit, if Git has that already."""
    settings.put(database, _key(partition, name), json.dumps(asdict(mark)))
    refer(database, history)
    return _read(settings.get(database, _key(partition, name)) or json.dumps(asdict(mark)))


def remove(database: Database, history: History, partition: str, name: str) -> None:
    """Forget a mark, in the state and in Git."""
    settings.remove(database, _key(partition, name))
    _set(history, _ref(partition, name), None)


def refer(database: Database, history: History) -> None:
    """Give each mark without a commit its reference, where Git has what it names by now."""
    for key, text in settings.beginning(database, _SETTING).items():
        mark = _read(text)
        commit = _commit(database, mark.seq) if mark.seq and not mark.commit else None
        partition, _, name = key.removeprefix(_SETTING).rpartition("/")
        if commit is None or not _set(history, _ref(partition, name), commit):
            continue
        with database.write():
            stands = settings.get(database, key) == text
            if stands:
                settings.put(database, key, json.dumps(asdict(replace(mark, commit=commit))))
        if not stands:  # it was deleted meanwhile
            _set(history, _ref(partition, name), None)


def _commit(database: Database, seq: int) -> str | None:
    """Return the commit that has an entry, or what is before one that changed no file."""
    entry = rows.get(database, seq)
    if entry is None or entry.commit_id or rows.queue_reason(database, seq)[0]:
        return entry.commit_id if entry else None
    before = rows.before_in_queue(database, seq)
    older = rows.get(database, before) if before else None
    return older.commit_id if older else None


def _set(history: History, ref: str, commit: str | None) -> bool:
    """Set or remove a reference; says whether Git did it."""
    try:
        history.set_ref(ref, commit)
    except VaultError:
        return False  # the mark of the state is enough for now
    return True


def _in_git(history: History, partition: str) -> dict[str, str]:
    try:
        refs = history.refs(f"{REFS}{_safe(partition)}/")
    except VaultError:
        return {}  # the marks of the state are enough
    return {unquote(ref.rpartition("/")[2]): commit for ref, commit in refs.items()}


def _read(text: str) -> Mark:
    values = json.loads(text)
    return Mark(values.get("seq"), values.get("commit"), values.get("at"), values.get("actor"))


def _key(partition: str, name: str) -> str:
    return f"{_SETTING}{partition}/{name}"


def _ref(partition: str, name: str) -> str:
    return f"{REFS}{_safe(partition)}/{name}"


def _safe(partition: str) -> str:
    """Return a partition's name as a part of a Git reference."""
    return quote(partition, safe="").replace(".", "%2E")
