"""Findings: everything in a vault that a person should look at, with path, line and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from vault_kg.index import attributes, catalog, ignoring, links, lost, retained
from vault_kg.index.eligibility import CURRENT
from vault_kg.index.parsed import from_git, partition_of
from vault_kg.records import names
from vault_kg.state import conflicts, merges, revisions
from vault_kg.state.database import Database
from vault_kg.store.vault import Vault

MAX_GROUP = 20


@dataclass(frozen=True)
class Finding:
    """One thing to look at."""

    code: str
    severity: str
    message: str
    path: str | None = None
    line: int | None = None
    record: str | None = None
    hint: str | None = None
    partition: str | None = None
    """Where it is seen; None is everywhere."""


@dataclass(frozen=True)
class Candidate:
    """Two pages that may be one, with the reason for thinking so."""

    first: str
    second: str
    type: str
    strength: str
    reason: str
    partition: str


Sees = Callable[[str], bool]


def conflicted(db: Database) -> Iterator[Finding]:
    """Yield the conflicts that wait for a person."""
    for conflict in conflicts.open_ones(db):
        if conflict.displaced != conflict.original:
            yield Finding(
                "conflict", "error", "an edit met an accepted request; all versions are kept",
                conflict.path, None, conflict.record_id, f"choose with `vault-kg review {conflict.id}`",
                partition_of(conflict.path),
            )  # fmt: skip


def of_files(db: Database) -> Iterator[Finding]:
    """Yield what was found in single files: format, rules, guards contradicted, not readable.

    Rules come last: one that is not kept may only follow from another file.
    """
    for code, severity, message, path, line, record, hint in db.rows(
        "SELECT finding.code, severity, message, finding.path, line, record.id, hint "
        "FROM finding LEFT JOIN record ON record.path = finding.path "
        "ORDER BY finding.phase = ?, finding.path, line, finding.phase, ordinal",
        (catalog.RULES,),
    ):
        yield Finding(code, severity, message, path, line, record, hint, partition_of(path))


def duplicates(db: Database, sees: Sees = lambda _: True) -> Iterator[Finding]:
    """Yield ids that more than one file carries, with those of the files that a caller may see."""
    found: dict[str, list[str]] = {}
    for record_id, path, partition in db.rows(
        "SELECT id, path, partition FROM record WHERE id IN "
        "(SELECT id FROM record GROUP BY id HAVING count(*) > 1) ORDER BY id, path"
    ):
        if sees(partition):
            found.setdefault(record_id, []).append(path)
    for record_id, paths in found.items():
        yield Finding(
            "duplicate_id", "error", f"{record_id} stands in several files: {', '.join(paths)}",
            paths[0], None, record_id,
            "delete the copy, or give it a new id; until then neither is looked up",
            partition_of(paths[0]),
        )  # fmt: skip


def missing(vault: Vault) -> Iterator[Finding]:
    """Yield records that are known and have no file, or one that is left out or no record."""
    for found in lost.everything(vault.database, vault.root):
        why = found.reason
        yield Finding(
            why.code, "error", why.message, found.path, None, found.id, why.hint,
            found.partition,
        )  # fmt: skip


def of_sources(vault: Vault) -> Iterator[Finding]:
    """Yield sources without a descriptor, and those whose file is not what was retained."""
    for gone in lost.of_sources(vault.database, vault.root):
        why = gone.reason
        yield Finding(
            why.code, "error", why.message, gone.path, None, None, why.hint, gone.partition
        )
    for source, code in retained.faults(vault):
        said = "is gone" if code == retained.MISSING else "is not what was retained"
        yield Finding(
            code, "error",
            f"the file of source {source.id} {said}; what cites it cannot be checked",
            source.path, None, None, from_git(source.path), source.partition,
        )  # fmt: skip


def of_attributes(vault: Vault) -> Iterator[Finding]:
    """Yield lines of `.gitattributes` that name a filter which the vault's commits do not use."""
    for found in attributes.filters(vault.database, vault.root):
        yield Finding(
            "git_filter", "warning",
            f"{found.path} is to go through the filter {found.name}; vault-kg runs no filter, and "
            "commits the file as it stands: what the filter would hide can be read in Git",
            found.where, found.line, None,
            "keep what must be hidden out of the vault, or encrypt the disk and the remote; see "
            "backup-and-recovery",
            partition_of(found.path),
        )  # fmt: skip


def of_ignoring(vault: Vault) -> Iterator[Finding]:
    """Yield lines of `.gitignore` that leave nothing out, though somebody meant something by them."""
    inner = [folder for (folder,) in vault.database.rows("SELECT DISTINCT folder FROM file")]
    for found in ignoring.meaningless(vault.root, sorted(ignoring.with_those_above(inner))):
        yield Finding(
            "gitignore_line", "warning",
            f"`{found.pattern}` is no pattern; Git and vault-kg pass over this line",
            found.path, found.line, None, "correct the line, or take it out",
            partition_of(found.path),
        )  # fmt: skip


def chains(db: Database) -> Iterator[Finding]:
    """Yield merge chains that do not end at an active page within eight hops."""
    targets = merges.targets(db)
    for absorbed in sorted(targets):
        final = merges.resolve(targets, absorbed)
        row = final and db.row("SELECT lifecycle FROM record WHERE id = ?", (final,))
        head = revisions.head(db, absorbed)
        if final is None:
            text = f"{absorbed} is merged in a cycle or through more than {merges.MAX_HOPS} pages"
        elif not row:
            text = f"{absorbed} was merged into {final}, which has no file here"
        elif row[0] != "active":
            text = f"{absorbed} was merged into {final}, which is {row[0]}"
        else:
            continue
        yield Finding(
            "merge_chain", "error", text, head.path if head else None, None, absorbed,
            "records that name it are hidden; unmerge it, or restore the page at the end",
            head.partition if head else None,
        )  # fmt: skip


def unresolved_links(
    db: Database, sees: Sees = lambda _: True, limit: int = 1_000
) -> Iterator[Finding]:
    """Yield links that mean nothing, with their line."""
    for link in links.unresolved(db, limit, sees=sees):
        yield Finding(
            "unresolved_link", "warning", f"the link to {link.target!r} means nothing in this vault",
            link.path, link.line, None, "write the page, or mend the link", partition_of(link.path),
        )  # fmt: skip


def merge_candidates(db: Database, now: str) -> list[Candidate]:
    """Return pairs of current pages of one type that share an identity alias or a normalised title.

    Similar names are never enough. Pairs that a person declined are left out.
    """
    declined = merges.declined(db)
    found: dict[tuple[str, str], Candidate] = {}
    for group, strength, reason, kind, partition in (
        *_shared_alias(db, now),
        *_shared_title(db, now),
    ):
        for first, second in combinations(sorted(group)[:MAX_GROUP], 2):
            if (first, second) not in declined:
                found.setdefault(
                    (first, second), Candidate(first, second, kind, strength, reason, partition)
                )
    return list(found.values())


_Group = tuple[list[str], str, str, str, str]


def _shared_alias(db: Database, now: str) -> Iterator[_Group]:
    for alias, kind, partition, ids in db.rows(
        "SELECT name.name, coalesce(type, ''), partition, group_concat(DISTINCT id) "
        "FROM name INDEXED BY name_alias CROSS JOIN record USING (key) "
        f"WHERE name.source = 'alias' AND kind = 'page' AND {CURRENT} "
        "AND instr(name.name, ':') > 0 GROUP BY 1, 2, 3 HAVING count(DISTINCT id) > 1 ORDER BY 1",
        {"now": now},
    ):
        if names.is_namespaced(alias):
            yield ids.split(","), "strong", f"both have the alias {alias}", kind, partition


def _shared_title(db: Database, now: str) -> Iterator[_Group]:
    for key, kind, partition, ids in db.rows(
        "SELECT title_key, coalesce(type, ''), partition, group_concat(DISTINCT id) FROM record "
        "WHERE title_key IN (SELECT title_key FROM record INDEXED BY record_titled "
        "WHERE kind = 'page' GROUP BY title_key HAVING count(*) > 1) "
        f"AND kind = 'page' AND {CURRENT} GROUP BY 1, 2, 3 HAVING count(DISTINCT id) > 1 ORDER BY 1",
        {"now": now},
    ):
        yield ids.split(","), "weak", f"both titles read {key!r}", kind, partition
