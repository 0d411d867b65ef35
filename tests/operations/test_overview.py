"""Browsing: shelves, titles, sources and open conflicts; only what the caller may see."""

from __future__ import annotations

from tests.operations.builder import VaultBox
from vault_kg.operations.caller import Caller

MAIN_ONLY = Caller("x", partitions=frozenset({"main"}))


def everything(vault: VaultBox, name: str, key: str) -> list[dict[str, object]]:
    found, cursor = [], None
    while True:
        page = vault.call(name, limit=3, **({"cursor": cursor} if cursor else {}))
        found += page[key]
        assert page["total"] >= len(found)
        cursor = page["nextCursor"]
        if cursor is None:
            assert page["total"] == len(found)
            return found


def test_shelves_count_by_partition_kind_and_type(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    vault.page("Charles")
    vault.page("Secret", partition="secret")
    vault.claim(ada)
    shelves = vault.call("knowledge_shelves")["shelves"]
    counted = {(s["partition"], s["kind"], s["type"]): s["records"] for s in shelves}
    assert counted == {
        ("main", "claim", "fact"): 1,
        ("main", "page", "Person"): 2,
        ("secret", "page", "Person"): 1,
    }  # fmt: skip
    assert {s["partition"] for s in vault.call("knowledge_shelves", MAIN_ONLY)["shelves"]} == {
        "main"
    }


def test_titles_are_in_order_page_by_page(vault: VaultBox) -> None:
    titles = ["Emile", "ada", "Zoe", "Charles", "Ada", "bob", "Ada"]
    for title in titles:
        vault.page(title)
    found = everything(vault, "knowledge_browse", "records")
    assert sorted(str(r["title"]) for r in found) == sorted(titles)
    assert [str(r["title"])[0].lower() for r in found[:3]] == ["a", "a", "a"]
    assert str(found[-1]["title"]) == "Zoe"


def test_a_text_narrows_by_title_or_path(vault: VaultBox) -> None:
    vault.page("Ada Lovelace")
    vault.page("Charles Babbage")
    vault.put("notes/looms.md", "# Weaving\n")
    vault.scan()
    assert [r["title"] for r in vault.call("knowledge_browse", text="LOVE")["records"]] == [
        "Ada Lovelace"
    ]
    assert [r["path"] for r in vault.call("knowledge_browse", text="notes/")["records"]] == [
        "notes/looms.md"
    ]
    assert vault.call("knowledge_browse", text="%")["total"] == 0


def test_what_is_withdrawn_is_browsed_only_when_asked_for(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    vault.withdraw(ada)
    assert vault.call("knowledge_browse")["total"] == 0
    found = vault.call("knowledge_browse", lifecycle="withdrawn")["records"]
    assert [r["id"] for r in found] == [ada]


def test_what_stands_on_something_gone_is_browsed_as_unresolved(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    claim = vault.claim(ada)
    vault.page("Charles")
    assert vault.call("knowledge_browse", lifecycle="unresolved")["total"] == 0
    vault.withdraw(ada)
    found = vault.call("knowledge_browse", lifecycle="unresolved")
    assert [(r["id"], r["eligible"]) for r in found["records"]] == [(claim, False)]
    assert found["total"] == 1
    assert claim not in {r["id"] for r in vault.call("knowledge_browse")["records"]}


def test_sources_are_listed_by_name(vault: VaultBox) -> None:
    for n in (3, 1, 2, 5, 4):
        vault.source(f"text {n}", f"{n}.txt")
    vault.source("hidden", "0.txt", partition="secret")
    names = [s["filename"] for s in everything(vault, "knowledge_sources", "sources")]
    assert names == ["0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt"]
    assert vault.call("knowledge_sources", MAIN_ONLY)["total"] == 5


def test_no_conflict_waits_in_a_quiet_vault(vault: VaultBox) -> None:
    vault.page("Ada")
    assert vault.call("knowledge_conflicts") == {
        "conflicts": [],
        "count": 0,
        "total": 0,
        "nextCursor": None,
    }
