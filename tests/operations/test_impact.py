"""Impact: what stands on a record, told before and after, and only to those who may see it."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import NotFound
from vault_kg.operations.caller import Caller


def seen(impact: dict) -> dict[str, tuple[str, int]]:
    return {i["id"]: (i["via"], i["depth"]) for i in impact["items"]}


def test_each_direct_and_transitive_dependent_is_listed_with_its_way_and_depth(
    vault: VaultBox,
) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    by_owner = vault.claim(ada, title="Owned")
    by_entity = vault.claim(babbage, entities=[ada])
    by_endpoint = vault.relationship(babbage, ada)
    by_dependency = vault.page("On it", dependencies=[ada])
    linking = vault.page("Linking", body="See [[Ada]].")
    note = vault.put("notes/n.md", "About [[ada]].\n")
    second = vault.page("On the claim", dependencies=[by_owner])
    third = vault.claim(second)
    linking_on = vault.page("Linking on", body="[[On it]]")
    vault.scan()
    impact = vault.call("knowledge_impact", id=ada)
    assert seen(impact) == {
        by_owner: ("owner", 1), by_entity: ("entities", 1), by_endpoint: ("endpoint", 1),
        by_dependency: ("dependencies", 1), linking: ("wikilink", 1),
        f"doc:file:{vault.relative(note)}": ("wikilink", 1), second: ("dependencies", 2),
        third: ("owner", 3),
    }  # fmt: skip
    assert linking_on not in seen(impact), "a link does not pass standing on"
    assert impact["total"] == 8 and impact["truncated"] is False
    assert next(i for i in impact["items"] if i["id"] == by_owner)["title"] == "Owned"
    assert [i["depth"] for i in impact["items"]] == sorted(i["depth"] for i in impact["items"])


@pytest.mark.parametrize("operation", ["withdraw", "correct", "merge"])
def test_what_is_told_before_is_what_the_receipt_says(vault: VaultBox, operation: str) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    claim = vault.claim(ada)
    vault.page("On it", dependencies=[claim])
    target = {"withdraw": ada, "correct": claim, "merge": ada}[operation]
    with vault.nothing_changes():
        told = vault.call("knowledge_impact", id=target, operation=operation)
    receipt = {
        "withdraw": lambda: vault.withdraw(ada),
        "correct": lambda: vault.correct(claim, vault.claim_values(babbage)),
        "merge": lambda: vault.merge(babbage, ada),
    }[operation]()  # fmt: skip
    assert told["total"] >= 1 and receipt["impact"] == told


def test_dependents_of_pages_merged_into_it_are_dependents(vault: VaultBox) -> None:
    ada, countess, king = vault.page(), vault.page("Countess"), vault.page("Ada King")
    claim = vault.claim(king)
    vault.merge(countess, king)
    vault.merge(ada, countess)
    assert seen(vault.call("knowledge_impact", id=ada)) == {claim: ("owner", 1)}


def test_circles_of_dependents_end(vault: VaultBox) -> None:
    first = vault.page("First")
    second = vault.page("Second", dependencies=[first])
    vault.change(first, dependencies=[second])
    assert seen(vault.call("knowledge_impact", id=first)) == {second: ("dependencies", 1)}


def test_a_long_impact_says_its_true_total_and_that_it_is_cut(vault: VaultBox) -> None:
    ada = vault.page()
    source = vault.evidence[0]["source"]
    for n in range(205):
        vault.put(
            f"main/claims/ada/c{n:03}.md",
            "---\nformat: knowledge-record-v1\n"
            f"id: cl_01kh0000000000000000{n:06}\nkind: claim\nrevision: 1\ntitle: c\n"
            "lifecycle: active\nrecorded_at: 2026-01-05T10:00:00Z\n"
            "updated_at: 2026-01-05T10:00:00Z\nclaim_kind: fact\n"
            f"owner: {ada}\nevidence:\n- source: {source}\n---\nText {n}.\n",
        )
    vault.scan()
    impact = vault.call("knowledge_impact", id=ada)
    assert (impact["total"], impact["truncated"], len(impact["items"])) == (205, True, 200)


def test_only_those_that_the_caller_may_see_are_listed_and_counted(vault: VaultBox) -> None:
    ada = vault.page()
    mine = vault.claim(ada)
    theirs = vault.claim(ada, partition="private")
    on_theirs = vault.page("On theirs", dependencies=[theirs])
    restricted = Caller("r", partitions=frozenset({"main"}))
    impact = vault.call("knowledge_impact", restricted, id=ada)
    assert set(seen(impact)) == {mine, on_theirs} and impact["total"] == 2
    other = Caller("o", partitions=frozenset({"private"}))
    with pytest.raises(NotFound):
        vault.call("knowledge_impact", other, id=ada)
