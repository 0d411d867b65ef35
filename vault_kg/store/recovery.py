"""Rebuilding a lost `state.sqlite` from the trailers of Git commits and from the files.

No file of the vault is changed. What could not be proved is reported, never guessed: an entry whose
commit is missing, a file that no commit speaks of, a withdrawal that only its file tells of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from vault_kg.errors import Unavailable, WriteFailed
from vault_kg.state import settings
from vault_kg.state.copying import remove_database
from vault_kg.state.database import Database
from vault_kg.store import arriving, files, outbox, paths, reading, recovery_files, vault
from vault_kg.store.playing import Player, Told, Trailers, is_known, told

if TYPE_CHECKING:
    from vault_kg.store.git import History, LoggedCommit


T = TypeVar("T")


@dataclass
class Report(Told):
    """What was recovered from how many commits, and what could not be proved."""

    commits: int = 0


def recover(root: Path, history: History, state: Path | None = None) -> Report:
    """Make a new state for a vault that lost its own.

    Args:
        root: the vault's folder.
        history: its Git history.
        state: where the state goes; the default place where None.

    Raises:
        Unavailable: there is a state already, or the vault's identity is gone and not in Git.
        WriteFailed: the disk refuses; there is no state, as before.
    """
    where = vault.state_file(root, state)
    if where.exists():
        raise Unavailable(
            f"{where} is there; recover only makes a lost state anew. Move it away first if it is "
            "damaged",
            path=str(where),
        )
    unfinished = where.with_name(where.name + ".recovering")
    try:
        _restore_identity(root, history)
        remove_database(unfinished)
        report = _build(root, history, unfinished)
        report.unproven += _set_aside(root, where)
        unfinished.replace(where)
        files.sync_folder(where.parent)
    except OSError as error:
        raise WriteFailed(
            f"the state cannot be made anew: {error}. Free some space or mend the permissions, "
            "then recover again",
            path=str(where),
        ) from error
    finally:
        remove_database(unfinished)
    return report


def _build(root: Path, history: History, where: Path) -> Report:
    vault_id, created = vault.identity(root)
    database = Database(where, create=True)
    try:
        report = _Recovery(database, history).run()
        added = recovery_files.compare(root, database, history)
        report.guards += added.guards
        report.merges += added.merges
        report.unproven += added.unproven
        settings.put(database, "vault_id", vault_id)
        settings.put(database, "created", created)
        if not reading.can_write(root / paths.PRIVATE):
            reading.mark(database, root)
        database.checkpoint()
    finally:
        database.close()
    return report


def _restore_identity(root: Path, history: History) -> None:
    """Bring `vault.toml` back from Git where the whole private folder was lost.

    A clone has nothing else in that folder: not even what makes it ignore itself.
    """
    if vault.exists(root):
        private = root / paths.PRIVATE
        if reading.can_write(private) and not (private / ".gitignore").exists():
            vault.make_private(private)
        return
    head = history.resolve("HEAD")
    content = history.read_file(head, vault.CONFIG) if head else None
    if content is None:
        raise Unavailable(
            f"neither {root / vault.CONFIG} nor its Git history says which vault this is; make it "
            f"a new one with `vault-kg init {root}`"
        )
    config = root / vault.CONFIG
    vault.make_private(config.parent)
    files.write_complete(config, content, config)


def _set_aside(root: Path, where: Path) -> list[str]:
    """Move what belongs to the lost state out of the new one's way; nothing is thrown away."""
    kept_aside = []
    for suffix in ("-wal", "-shm", "-journal"):
        left = Path(f"{where}{suffix}")
        if not left.exists():
            continue
        if suffix == "-shm" or not left.stat().st_size:
            left.unlink()
            continue
        kept = left.replace(_free(left.with_name(f"{left.name}.lost")))
        kept_aside.append(f"{kept} is what is left of the lost state; it cannot be read alone")
    prepared = root / vault.TEMPORARIES
    if prepared.is_dir() and any(prepared.iterdir()):
        kept = prepared.replace(_free(prepared.with_name("unfinished")))
        kept_aside.append(
            f"{kept} holds files of requests that were at work when the state was lost"
        )
    return kept_aside


def _free(wanted: Path) -> Path:
    number, free = 1, wanted
    while free.exists():
        number += 1
        free = wanted.with_name(f"{wanted.name}-{number}")
    return free


class _Recovery:
    """Plays the commits of a history into an empty state, oldest first."""

    def __init__(self, database: Database, history: History) -> None:
        self._db = database
        self._history = history
        self._player = Player(database, history)
        self._commits = 0
        self._seen: set[str] = set()
        self._joined = False
        """Two entries have one number: clones were joined, and none of them knows all numbers."""
        self._previous: dict[str, str] = {}

    def run(self) -> Report:
        with self._db.write():
            for commit in self._history.log_with_trailers(changes=True):
                self._commits += 1
                for one in told(commit):
                    self._play(one)
            report = self._player.told
            report.unproven += self._missing()
            arriving.all_seen(self._db, self._history)
        return Report(**asdict(report), commits=self._commits)

    def _play(self, commit: LoggedCommit) -> None:
        said = Trailers(commit.trailers)
        if said.is_a_vaults():
            number = said.one(outbox.SEQ) or ""
            self._joined |= number in self._seen and not is_known(self._db, commit)
            self._seen.add(number)
            self._previous.setdefault(said.one(outbox.PREVIOUS) or "0", commit.id)
            self._player.play(commit)

    def _missing(self) -> Iterator[str]:
        if not self._commits:
            yield ("there is no Git history: everything is taken from the files as they are")
        for previous, commit_id in self._previous.items() if not self._joined else ():
            if previous != "0" and previous not in self._seen:
                yield (
                    f"journal entry {previous}, which commit {commit_id[:12]} was made after, is "
                    "not in the history; a withdrawal, correction or merge in it is not known"
                )
