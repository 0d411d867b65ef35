"""Applying the rules to what changed, and to what stands on it, within one projection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_kg.errors import UnsafePath
from vault_kg.index import catalog, identity, successors, validate
from vault_kg.index.catalog import Judgement, Standing
from vault_kg.index.ontologies import Ontologies
from vault_kg.index.parsed import RECORD, Parsed, parse_file, partition_of
from vault_kg.index.validate import World
from vault_kg.records.model import Problem, Record
from vault_kg.state import guards, revisions
from vault_kg.state.database import Database
from vault_kg.store import files
from vault_kg.store.vault import Vault

EVIDENCE_CODES = ("unknown_source", "invalid_lines", "quote_not_found")

Before = dict[str, tuple[str, str | None]]
"""What stood at a path: kind and type by id; a source has the kind `source`."""


class Rules:
    """Collects what a projection changed; `settle` judges it and its dependents once."""

    def __init__(self, vault: Vault, ontologies: Ontologies) -> None:
        self._vault = vault
        self._db: Database = vault.database
        self._ontologies = ontologies
        self._worlds: dict[str, World] = {}
        self._changed: dict[str, Parsed] = {}
        self._moved: set[str] = set()
        self._sources = self._all = False
        self._lost: set[str] = set()

    def before(self, paths: Sequence[str]) -> dict[str, Before]:
        """Return what stands at some paths before they are projected."""
        known: dict[str, Before] = {path: {} for path in paths}
        for path, record_id, kind, of_type in self._db.among(
            "SELECT path, id, kind, type FROM record WHERE path IN ({})", paths
        ):
            known[path][record_id] = (kind, of_type)
        for path, source_id in self._db.among(
            "SELECT descriptor, id FROM source WHERE descriptor IN ({})", paths
        ):
            known[path][source_id] = ("source", None)
        return known

    def changed(self, parsed: Parsed, before: Before) -> None:
        """Note that a file was projected."""
        after: Before = {}
        if parsed.kind == RECORD and parsed.record is not None:
            after[parsed.record.id] = (parsed.record.kind, parsed.record.type)
            self._changed[parsed.path] = parsed
        if parsed.source is not None:
            after[parsed.source.id] = ("source", None)
        self._compare(before, after)

    def gone(self, before: Before) -> None:
        """Note that a file was forgotten."""
        self._compare(before, {})

    def everything(self) -> None:
        """Have every record judged: the vocabulary itself changed."""
        self._all = True

    def settle(self) -> set[str]:
        """Judge the changed records and those that stand on what changed its kind.

        Returns:
            The ids of all that were judged: their eligibility may have changed.
        """
        for path in sorted(self._dependents() - set(self._changed)):
            parsed = self._parse(path)
            if parsed is not None:
                self._changed[path] = parsed
        files = list(self._changed.values())
        records = [file.record for file in files if file.record is not None]
        stands = catalog.standings(self._db, records)
        judged = [self._judge(*one) for one in zip(files, records, stands, strict=True)]
        catalog.put_judgements(self._db, judged)
        return {record.id for record in records}

    def _compare(self, before: Before, after: Before) -> None:
        for record_id in before.keys() | after.keys():
            was, now = before.get(record_id), after.get(record_id)
            if was == now:
                continue
            if "source" in ((was or now or ("",))[0], (now or was or ("",))[0]):
                self._sources = True
                self._lost |= {record_id} if now is None else set()
            else:
                self._moved.add(record_id)

    def _judge(self, parsed: Parsed, record: Record, stands: Standing) -> Judgement:
        lines = parsed.document.lines if parsed.document else {}
        found = validate.check(record, self._world(partition_of(parsed.path)), lines.get)
        if stands.lifecycle in ("superseded", "withdrawn"):
            # History may cite what was removed since; nothing is to be mended there.
            found = [problem for problem in found if problem.code not in EVIDENCE_CODES]
        errors = any(p.severity == "error" for p in (*parsed.problems, *found))
        stated = _state_problems(self._db, record, stands, lines)
        return Judgement(parsed.path, not errors, found, stated)

    def _world(self, partition: str) -> World:
        world = self._worlds.get(partition)
        if world is None:
            ontology = self._ontologies.of(partition)
            world = self._worlds[partition] = World(self._vault, ontology, standing=True)
        return world

    def _dependents(self) -> set[str]:
        if self._all:
            return _paths(
                self._db, "SELECT path FROM record WHERE kind NOT IN ('note', 'source')", []
            )
        paths = {
            path
            for (path,) in self._db.among(
                "SELECT DISTINCT record.path FROM edge JOIN record USING (key) "
                "WHERE edge.target IN ({})",
                self._named_by_others(),
            )
        }
        for source in self._lost:
            paths |= _paths(
                self._db,
                "SELECT record.path FROM citation JOIN record USING (key) WHERE source = ?",
                [source],
            )
        if self._sources:
            marks = ",".join("?" * len(EVIDENCE_CODES))
            paths |= _paths(
                self._db,
                f"SELECT DISTINCT path FROM finding WHERE code IN ({marks})",
                EVIDENCE_CODES,
            )
        return paths

    def _named_by_others(self) -> list[str]:
        """Return the ids under which records name what changed: also pages merged into it.

        What a page that was ever merged means may have changed with its file.
        """
        changed = {p.record.id for p in self._changed.values() if p.record is not None}
        merged = {i for (i,) in self._db.rows("SELECT DISTINCT absorbed FROM merge")}
        moved = sorted(self._moved | (changed & merged))
        return successors.with_absorbed(moved, successors.absorbed_by(self._db)) if moved else []

    def _parse(self, path: str) -> Parsed | None:
        try:
            content = files.read(self._vault.root, path)
        except (UnsafePath, OSError):
            return None
        parsed = parse_file(path, content) if content is not None else None
        if parsed is None or parsed.record is None:
            return None
        return identity.as_known(self._db, parsed, revisions.head_at_path(self._db, path))


def _paths(db: Database, sql: str, parameters: list[str] | tuple[str, ...]) -> set[str]:
    return {path for (path,) in db.rows(sql, parameters)}


def _state_problems(
    db: Database, record: Record, stands: Standing, lines: Mapping[str, int]
) -> list[Problem]:
    """Return where a file says something of its lifecycle that only an operation may say."""
    guarded, merge = stands.guarded, stands.merge
    superseded = guarded.get(guards.SUPERSEDED)
    found = []
    if record.lifecycle != stands.lifecycle:
        code = "guard_contradicted" if guarded or merge else "lifecycle_edited"
        found.append(_edited(code, "lifecycle", record.lifecycle, stands.lifecycle, lines))
    expected = {
        "superseded_by": superseded.successor if superseded else None,
        "merged_into": merge.survivor if merge else None,
    }
    for key, value in expected.items():
        stated = getattr(record, key)
        if stated != value and not (stated is None and record.lifecycle != stands.lifecycle):
            found.append(_edited("lifecycle_edited", key, stated, value, lines))
    differs = record.revision != stands.revision
    if differs and not revisions.is_written(db, record.id, record.revision):
        written = revisions.written(db, record.id)
        if written is not None:
            found.append(_edited("revision_edited", "revision", record.revision, written, lines))
    return found


def _edited(
    code: str, key: str, stated: object, stands: object, lines: Mapping[str, int]
) -> Problem:
    return Problem(
        code,
        f"the file says {key}: {stated if stated is not None else '(nothing)'}; "
        f"{stands if stands is not None else '(nothing)'} stands and is what counts",
        lines.get(key, lines.get("id", 1)),
        "only an operation changes this; restore the line, or withdraw or correct the record",
        "warning",
    )
