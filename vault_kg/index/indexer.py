"""Keeping the index true to the files: full scans, observed edits, and what a publication changed.

A scan compares stamps first and content where they differ. A changed record is an *edit*: it gets
its next revision through the journal, and its file is left as the person saved it. A scan that met
an error removes nothing that it could not see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from vault_kg.errors import Busy, UnsafePath, WriteFailed
from vault_kg.index import (
    catalog,
    eligibility,
    identity,
    looking,
    projection,
    schema,
    stamped,
    unread,
    walk,
    walk_apart,
)
from vault_kg.index.looking import Same, Seen
from vault_kg.index.ontologies import Ontologies
from vault_kg.index.parsed import Looked, parse_file
from vault_kg.index.rules import Rules
from vault_kg.index.source_text import with_text
from vault_kg.records import ids
from vault_kg.records.model import Problem
from vault_kg.state import revisions, settings
from vault_kg.state.database import Database
from vault_kg.state.revisions import Revision
from vault_kg.store import collecting, files, paths
from vault_kg.store.files import RACY_NS, Stamp
from vault_kg.store.journal import Journal
from vault_kg.store.vault import Vault
from vault_kg.store.writers import let_saves_end

_VOCABULARY = "checked_vocabulary"
_LISTING = "listing"
"""Of the last scan that took in everything: nothing changed where the next one sees the same."""

_GENERATION = "index_generation"

Progress = Callable[[int, int], None]


@dataclass
class ScanReport:
    """What a scan saw and did."""

    files: int = 0
    changed: int = 0
    removed: int = 0
    problems: dict[str, Problem] = field(default_factory=dict)


class Indexer:
    """The index of one vault. `project` is what the journal calls inside each publication."""

    def __init__(self, vault: Vault, ontologies: Ontologies, version: str = schema.VERSION) -> None:
        self._vault = vault
        self._db = vault.database
        self._ontologies = ontologies
        self._looked: dict[str, Looked] = {}
        self.fresh = schema.ensure(self._db, version)

    def project(self, changed: Sequence[tuple[str, bytes | None]]) -> None:
        """Bring the index up to date with files that changed; joins the caller's transaction.

        Args:
            changed: vault-relative paths with the bytes that were accepted; None where removed.
        """
        wanted = [(path, content) for path, content in changed if walk.wanted(path)]
        gone = [path for path, content in wanted if content is None]
        rules = Rules(self._vault, self._ontologies)
        with self._db.write():
            before = rules.before([path for path, _ in wanted])
            heads = revisions.heads_at_paths(self._db, [path for path, _ in wanted])
            looked = [
                self._looked.get(path) or self._as_accepted(path, content, heads.get(path))
                for path, content in wanted
                if content is not None
            ]
            touched = projection.remove(self._db, gone) | projection.put(self._db, looked)
            for path in gone:
                rules.gone(before[path])
            for file in looked:
                rules.changed(file.parsed, before[file.parsed.path])
            touched |= rules.settle()
            eligibility.refresh(self._db, {i for i in touched if not ids.is_note(i)})
            settings.put(self._db, _GENERATION, str(generation(self._db) + 1))
            settings.put(self._db, _LISTING, "")  # files as then are not what the index has by now

    def scan(
        self,
        journal: Journal,
        progress: Progress | None = None,
        wait: float | None = None,
        *,
        aside: bool = False,
    ) -> ScanReport:
        """Look at every file of the vault and take in what changed.

        Args:
            journal: through which edits get their revision.
            progress: called with (done, total) files.
            wait: seconds to wait for the write lane; the lane's own default where None.
            aside: something else goes on meanwhile that is not to be kept waiting.

        Raises:
            Busy: files changed and the lane was not free in time.
            WriteFailed: the disk refuses.
        """
        seen = self._seen_aside() if aside else None
        if seen is None or settings.get(self._db, _LISTING) != seen.digest:
            return self._scan(journal, progress, wait)
        self._recheck_if_vocabulary_changed()
        self._remember(seen.digest, journal.now())
        return ScanReport(seen.files)

    def _seen_aside(self) -> walk_apart.Seen | None:
        """Return what another process sees of the files, where they are many and known."""
        known = settings.get(self._db, _LISTING)
        many = int(self._db.value("SELECT count(*) FROM file")) >= walk_apart.WORTHWHILE
        return walk_apart.seen(self._vault.root) if known and many else None

    def _scan(self, journal: Journal, progress: Progress | None, wait: float | None) -> ScanReport:
        started = time.time_ns()
        listing = walk.walk(self._vault.root)
        digest = listing.digest()
        report = ScanReport(len(listing.paths), problems=listing.problems)
        if listing.problems or settings.get(self._db, _LISTING) != digest:
            changed, removed = stamped.compare(self._db, listing)
            unread.note(self._db, listing)
            total = len(changed) + len(removed)
            with collecting.between_batches() as collect:
                for paths, seen in looking.look_ahead(self._vault.root, changed):
                    report.changed += self.observe(journal, paths, seen, wait=wait)
                    if len(paths) >= looking.BATCH:  # of less there is too little garbage
                        collect()
                    if progress:
                        progress(report.changed, total)
            left_out = [p for p in removed if files.stamp(self._vault.root, p) is not None]
            gone = sorted(set(removed) - set(left_out))
            report.removed = self.observe(journal, gone, wait=wait) if gone else 0
            self._leave_out(journal, left_out, wait)
            if progress and total:
                progress(total, total)
            if listing.newest_ns > started - RACY_NS or unread.are_there(self._db):
                digest = ""
        self._recheck_if_vocabulary_changed()
        self._remember(digest, journal.now())
        return report

    def observe(
        self,
        journal: Journal,
        paths: Sequence[str],
        seen: Mapping[str, Seen] = MappingProxyType({}),
        *,
        wait: float | None = None,
    ) -> int:
        """Take in what a person changed in these files; returns how many had changed.

        Args:
            journal: through which edits get their revision.
            paths: vault-relative paths; those without a file are taken as deleted.
            seen: what was seen of them before; looked at again where that does not hold any more.
            wait: seconds to wait for the write lane; the lane's own default where None.

        Raises:
            Busy: the lane was not free; with `wait` given, also where the disk refuses.
            WriteFailed: the disk refuses, or an accepted request still waits for it.
        """
        let_saves_end([self._vault.root / path for path in paths], RACY_NS)
        try:
            with journal.lane.hold() if wait is None else journal.lane.hold(wait):
                return self._observe(journal, paths, seen)
        except WriteFailed as error:
            if wait is None:
                raise
            raise Busy(f"edits cannot be taken in now: {error.message}") from error

    def _leave_out(self, journal: Journal, paths: list[str], wait: float | None) -> None:
        """Take files out of the index that are there, and that `.gitignore` excludes by now."""
        if paths:
            with journal.lane.hold() if wait is None else journal.lane.hold(wait):
                self.project([(path, None) for path in paths])

    def _observe(self, journal: Journal, paths: Sequence[str], seen: Mapping[str, Seen]) -> int:
        journal.finish_accepted()  # what a dead writer installed is not an edit
        journal.require_finished()
        looked: dict[str, Looked] = {}
        gone: list[str] = []
        with self._db.write():
            for path, found in self._look(paths, seen):
                if found is None:
                    gone.append(path)
                elif isinstance(found, Looked):
                    looked[path] = found
                elif isinstance(found, Same):
                    stamped.restamp(self._db, path, found)
                else:
                    catalog.put_findings(self._db, path, catalog.WALK, [found])
            return self._take_in(journal, looked, gone)

    def _look(self, paths: Sequence[str], seen: Mapping[str, Seen]) -> Iterator[tuple[str, Seen]]:
        """Yield what is at each path now; what was seen before holds while the stamp does."""
        root, known = self._vault.root, stamped.hashes(self._db, paths)
        for path in paths:
            found = seen.get(path)
            if not isinstance(found, Looked | Same) or files.stamp(root, path) != found.stamp:
                found = looking.look(root, path, known.get(path))
            yield path, found

    def stale(self, paths: Iterable[str]) -> list[str]:
        """Return those of these paths whose file is not what the index saw.

        A path that the index neither knows nor would look at in a scan is left out.
        """
        return [path for path in paths if self._is_stale(path)]

    def _is_stale(self, path: str) -> bool:
        root = self._vault.root
        try:
            if not stamped.is_known(self._db, path):
                paths.resolve(root, path)
                if not walk.wanted(path) or walk.ignored(root, path):
                    return False
            return stamped.differs(self._db, path, files.stamp(root, path))
        except (UnsafePath, OSError):
            return False

    def _take_in(self, journal: Journal, looked: dict[str, Looked], gone: list[str]) -> int:
        if not looked and not gone:
            return 0
        found = identity.observe(self._db, self._vault.root, looked, gone)
        self._looked = {
            path: replace(file, parsed=found.parsed.get(path, file.parsed))
            for path, file in looked.items()
        }
        try:
            with self._db.write():
                if found.changes or found.moves:
                    journal.observe(
                        list(found.changes.values()),
                        found.moves,
                        found.guards,
                        found.merges,
                        self._label(looked, list(found.changes)),
                    )
                rest = [(p, f.content) for p, f in looked.items() if p not in found.changes]
                lost = [(p, None) for p in gone if p not in found.changes]
                self.project([*rest, *lost])
        finally:
            self._looked = {}
        return len(looked) + len(gone)

    def _label(self, looked: dict[str, Looked], changed: list[str]) -> str:
        """Return what a commit of edits calls them: the title of a single one, else their number."""
        if len(changed) != 1:
            return f"{len(changed)} files" if changed else ""
        there = looked.get(changed[0])
        if there is not None:
            return there.parsed.title if there.parsed.record is not None else ""
        gone = self._db.value("SELECT title FROM record WHERE path = ?", (changed[0],))
        return str(gone or "")

    def _as_accepted(self, path: str, content: bytes, there: Revision | None) -> Looked:
        """Parse accepted bytes; a file that was edited since gets no stamp, so that it is seen."""
        seen_ns = time.time_ns()
        try:
            found = files.read_stamped(self._vault.root, path)
        except (UnsafePath, OSError):
            found = None
        seen = found[1] if found is not None and found[0] == content else Stamp(-1, 0, 0, 0)
        parsed = with_text(self._vault.root, parse_file(path, content))
        parsed = identity.as_known(self._db, parsed, there)
        return Looked(content, parsed, files.content_hash(content), seen, seen_ns)

    def _remember(self, digest: str, now: str) -> None:
        """Note that everything was looked at; losing this note costs another look, so no flush."""
        flushed = self._db.connection.in_transaction  # a part of something larger, which flushes
        if not flushed:
            self._db.execute("PRAGMA synchronous=NORMAL")
        try:
            with self._db.write():
                settings.put(self._db, _LISTING, digest)
                settings.put(self._db, "scanned_at", now)
        finally:
            if not flushed:
                self._db.execute("PRAGMA synchronous=FULL")

    def _recheck_if_vocabulary_changed(self) -> None:
        fingerprint = self._ontologies.fingerprint()
        known = settings.get(self._db, _VOCABULARY)
        if known == fingerprint:
            return
        with self._db.write():
            if known is not None:
                rules = Rules(self._vault, self._ontologies)
                rules.everything()
                rules.settle()
                eligibility.refresh_all(self._db)
            settings.put(self._db, _VOCABULARY, fingerprint)


def generation(db: Database) -> int:
    """Return how often files were taken in, to tell whether a read would answer otherwise."""
    return int(settings.get(db, _GENERATION) or 0)


def renew(db: Database, beyond: int) -> None:
    """Say that reads answer otherwise than at that generation, whatever else has changed."""
    with db.write():
        settings.put(db, _GENERATION, str(max(generation(db), beyond) + 1))
