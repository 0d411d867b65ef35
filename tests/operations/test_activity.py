"""The journal as a list: newest first, with cursor and position."""

from __future__ import annotations

from tests.operations.builder import VaultBox, made_id, record_file
from vault_kg.operations.caller import Caller


def test_entries_are_listed_newest_first_with_who_why_and_git(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    arguments = {**vault.fence(ada), "reason": "not so"}
    vault.write("knowledge_withdraw", Caller("agent-7"), **arguments)
    found = vault.call("knowledge_activity")
    first, second = found["entries"][:2]
    assert (first["operation"], first["actor"]) == ("knowledge_withdraw", "agent-7")
    assert (first["reason"], first["targetId"], first["state"]) == ("not so", ada, "published")
    assert first["git"]["state"] == "committed"
    assert [t["lifecycle"] for t in first["touched"]] == ["withdrawn"]
    assert second["operation"] == "knowledge_save_page"
    assert found["position"] == first["seq"] == vault.position
    assert found["waitingForGit"] == 0


def test_pages_follow_the_cursor_without_gap_or_repetition(vault: VaultBox) -> None:
    for n in range(7):
        vault.page(f"Page {n}")
    seen, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = vault.call("knowledge_activity", limit=3, **more)
        seen += [e["seq"] for e in page["entries"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == list(range(vault.position, 0, -1))


def test_only_what_is_newer_than_a_position(vault: VaultBox) -> None:
    vault.page("Old")
    position = vault.call("knowledge_activity", limit=1)["position"]
    assert vault.call("knowledge_activity", after=position)["entries"] == []
    vault.page("New")
    assert [e["label"] for e in vault.call("knowledge_activity", after=position)["entries"]] == [
        "New"
    ]


def test_only_what_an_actor_did(vault: VaultBox) -> None:
    vault.page("Ada")
    vault.write("knowledge_save_page", Caller("other"), type="Person", title="Charles")
    found = vault.call("knowledge_activity", actor="other")["entries"]
    assert [e["label"] for e in found] == ["Charles"]


def test_a_partition_that_is_not_seen_is_not_told_of(vault: VaultBox) -> None:
    vault.page("Secret", partition="secret")
    vault.page("Open")
    found = vault.call("knowledge_activity", Caller("x", partitions=frozenset({"main"})))
    assert "Secret" not in [e["label"] for e in found["entries"]]


def test_an_entry_of_many_records_names_the_first_and_counts_all(vault: VaultBox) -> None:
    ids = [made_id(n) for n in range(70)]
    for n, record_id in enumerate(ids):
        vault.put(f"main/pages/p{n:02}.md", record_file(record_id, title=f"Page {n}"))
    vault.scan()
    entry = vault.call("knowledge_activity", limit=1)["entries"][0]
    assert (len(entry["touched"]), entry["touchedTotal"]) == (50, 70)
    assert [t["id"] for t in entry["touched"]] == ids[:50]
    some = Caller("x", partitions=frozenset({"main"}))
    assert vault.call("knowledge_activity", some, limit=1)["entries"][0]["touchedTotal"] == 70
