"""Counts that agree: of conflicts with their list, of the journal by partition; and long looks at it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import Cancelled, InvalidArgument, LifecycleRefused
from vault_kg.operations.caller import Caller
from vault_kg.state import conflicts
from vault_kg.state import journal as rows
from vault_kg.state.conflicts import Conflict


def conflicting(vault: VaultBox, count: int) -> list[str]:
    """Note conflicts as an interrupted request does; one more is of a file that nobody edited."""
    page = vault.page()
    path = vault.relative(vault.path(page))
    seq = vault.position
    found = [
        Conflict(f"c{n}", seq, path, None, b"old", b"new", b"edit", vault.ws.now())
        for n in range(count)
    ]
    waits = Conflict("waits", seq, path, None, b"old", b"new", b"old", vault.ws.now())
    with vault.ws.database.write():
        conflicts.add(vault.ws.database, [*found, waits])
    return [conflict.id for conflict in found]


def test_as_many_conflicts_are_counted_as_are_listed_and_they_page(vault: VaultBox) -> None:
    made = conflicting(vault, 5)
    assert vault.call("knowledge_status")["conflicts"] == 5
    listed: list[str] = []
    cursor = None
    while True:
        found = vault.call("knowledge_conflicts", limit=2, cursor=cursor)
        assert found["total"] == 5 and found["count"] == len(found["conflicts"]) <= 2
        listed += [conflict["id"] for conflict in found["conflicts"]]
        cursor = found["nextCursor"]
        if cursor is None:
            break
    assert listed == made
    with pytest.raises(InvalidArgument, match="cursor"):
        vault.call(
            "knowledge_conflicts",
            cursor=vault.call("knowledge_records", limit=1)["nextCursor"] or "x",
        )


def test_findings_are_counted_as_far_as_that_costs_nothing_and_within_sight(
    vault: VaultBox,
) -> None:
    conflicting(vault, 2)
    vault.put("main/pages/broken.md", "---\nformat: knowledge-record-v1\nx: [\n---\n")
    vault.put("other/pages/broken.md", "---\nformat: knowledge-record-v1\nx: [\n---\n")
    vault.path(vault.page("Gone")).unlink()
    vault.put("ontology.yaml", "mode: odd\n")
    vault.put("notes/a.md", "[[Nowhere]]\n")
    vault.scan()
    every = vault.findings()
    told = vault.call("knowledge_status")
    elsewhere = [f for f in every if f["code"] in ("conflict", "unresolved_link")]
    assert len(elsewhere) == 3
    assert sum(told["findings"].values()) == len(every) - len(elsewhere)
    first, second = told["nextSteps"]
    assert first["why"] == "2 conflicts wait for you" and "conflicts" in first["run"]
    assert second["run"] == "vault-kg diagnostics"
    guest = Caller("guest", partitions=frozenset({"other"}))
    seen = vault.call("knowledge_diagnostics", guest)["total"]
    assert sum(vault.call("knowledge_status", guest)["findings"].values()) == seen < len(every)


def test_very_many_findings_are_not_all_counted(
    vault: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_kg.operations.inspection.MAX_COUNTED", 3)
    for n in range(5):
        vault.put(f"main/pages/{n}.md", "---\nformat: knowledge-record-v1\nx: [\n---\n")
    vault.scan()
    told = vault.call("knowledge_status")
    assert told["findings"] == {"errors": 3, "warnings": 0}
    assert told["nextSteps"][0]["why"].startswith("at least 3 errors")


def test_the_journal_is_counted_by_partition_in_one_look(vault: VaultBox) -> None:
    ada = vault.page()
    for name in ("a", "b", "c"):
        vault.page(name, partition=name)
    vault.withdraw(ada)
    groups = vault.call("knowledge_status")["wal_groups"]
    assert {name: (g["applied_seq"], g["max_seq"]) for name, g in groups.items()} == {
        name: rows.positions(vault.ws.database, name) for name in ("a", "b", "c", "main")
    }
    asked: list[str] = []
    connection = vault.ws.database.connection
    connection.exec_trace = lambda _, sql, __: asked.append(sql) or True
    try:
        vault.call("knowledge_status")
    finally:
        connection.exec_trace = None
    assert sum("FROM journal WHERE state IN" in sql or "UNION ALL" in sql for sql in asked) == 1


def test_looking_through_the_journal_tells_how_far_it_is_and_can_be_taken_back(
    vault: VaultBox,
) -> None:
    for n in range(8):
        vault.page(f"Page {n}")
    told: list[int] = []
    watching = Caller("c", report=lambda done, total, what: told.append(done))
    assert vault.call("knowledge_activity", watching, actor="nobody", limit=1)["entries"] == []
    assert told == sorted(told) and len(told) >= 4 and told[-1] == vault.position - 1
    stop = Caller("c", cancelled=lambda: len(told) > 5)
    told.clear()
    for caller in (Caller("c", cancelled=lambda: True), stop):
        told += range(6)
        with pytest.raises(Cancelled):
            vault.call("knowledge_activity", caller, actor="nobody", limit=1)


@pytest.mark.parametrize(
    ("operation", "refused"),
    [("withdraw", {"gone", "merged"}), ("correct", {"page", "gone", "merged"}),
     ("merge", {"claim", "gone", "merged"})],
)  # fmt: skip
def test_an_impact_is_of_an_operation_that_the_record_is_for(
    vault: VaultBox, operation: str, refused: set[str]
) -> None:
    page, other = vault.page(), vault.page("Other")
    ids = {"page": page, "claim": vault.claim(page), "gone": vault.claim(page, "Gone."),
           "merged": other}  # fmt: skip
    vault.withdraw(ids["gone"])
    vault.merge(page, other)
    for name, record in ids.items():
        plain = vault.call("knowledge_impact", id=record)
        if name in refused:
            error = vault.refused("knowledge_impact", id=record, operation=operation)
            assert isinstance(error, InvalidArgument | LifecycleRefused)
            assert error.message == _refusal(vault, operation, page, record), "as it would be"
        else:
            assert vault.call("knowledge_impact", id=record, operation=operation) == plain


def _refusal(vault: VaultBox, operation: str, page: str, record: str) -> str:
    """Return what the operation itself says."""
    fence = vault.fence(record)
    arguments: dict[str, Any] = fence | {"reason": "x"}
    if operation == "correct":
        arguments = vault.correction(record, vault.claim_values(page))
    if operation == "merge":
        arguments = {"reason": "x", "survivor": fence, "absorbed": vault.fence(page)}
    return vault.refused(f"knowledge_{operation}", **arguments).message
