"""Withdrawing: one record, for good, and nothing else changes."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import (
    InvalidRecord,
    LifecycleRefused,
    MissingFile,
    NotFound,
    StaleHash,
    StaleRevision,
)
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller


@pytest.mark.parametrize("kind", ["page", "claim", "relationship"])
def test_a_page_a_claim_or_a_relationship_is_withdrawn(vault: VaultBox, kind: str) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    record = {
        "page": lambda: babbage, "claim": lambda: vault.claim(ada),
        "relationship": lambda: vault.relationship(ada, babbage),
    }[kind]()  # fmt: skip
    before = vault.get(record)
    receipt = vault.withdraw(record, reason="nobody said so")
    view = vault.get(record)
    assert (view["lifecycle"], view["revision"], view["eligible"]) == ("withdrawn", 2, False)
    assert view["lifecycleChange"]["reason"] == receipt["reason"] == "nobody said so"
    assert view["body"] == before["body"] and view["evidence"] == before["evidence"]
    assert [r["code"] for r in view["reasons"]] == ["is_withdrawn"]
    assert record not in vault.listed() and record in vault.listed(lifecycle="all")
    assert vault.listed(lifecycle="withdrawn") == {record}


def test_a_superseded_record_can_be_withdrawn_and_counts_as_withdrawn(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    vault.correct(claim, vault.claim_values(ada))
    vault.withdraw(claim)
    assert vault.get(claim)["lifecycle"] == "withdrawn"
    hits = vault.call("knowledge_search", query="notes", lifecycle="historical", mode="text")
    assert claim not in {h["id"] for h in hits["hits"]}


def test_an_invalid_record_can_be_withdrawn(vault: VaultBox) -> None:
    claim = vault.claim(vault.page(), confidence=0.5)
    vault.edit(claim, "confidence: 0.5", "confidence: high")
    vault.scan()
    vault.withdraw(claim)
    assert vault.get(claim)["lifecycle"] == "withdrawn"


def test_a_record_that_cannot_be_read_can_be_withdrawn_and_its_file_is_left(
    vault: VaultBox,
) -> None:
    claim = vault.claim(vault.page())
    path = vault.edit(claim, "title:", "title: [")
    vault.scan()
    broken = path.read_bytes()
    with pytest.raises(InvalidRecord) as caught:
        vault.get(claim)
    current = caught.value.data["current"]
    vault.write(
        "knowledge_withdraw", id=claim, expectedRevision=current["revision"],
        expectedHash=current["hash"], reason="beyond repair",
    )  # fmt: skip
    assert path.read_bytes() == broken
    path.write_bytes(broken.replace(b"title: [", b"title:"))
    vault.scan()
    assert vault.get(claim)["lifecycle"] == "withdrawn" and claim not in vault.listed()


def test_one_relationship_withdrawn_never_withdraws_another_with_the_same_endpoints(
    vault: VaultBox,
) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    first, second = (vault.relationship(ada, babbage) for _ in range(2))
    vault.withdraw(first)
    assert vault.get(second)["lifecycle"] == "active" and second in vault.listed()
    edges = vault.call("knowledge_connections", id=ada)["edges"]
    assert {e["record"] for e in edges if e["explicit"]} == {second}


def test_a_new_request_to_withdraw_again_is_refused_and_the_original_still_answers(
    vault: VaultBox,
) -> None:
    claim = vault.claim(vault.page())
    request = {**vault.fence(claim), "reason": "not so", "requestId": "w"}
    receipt = vault.call("knowledge_withdraw", **request)
    refused = vault.refused("knowledge_withdraw", **vault.fence(claim), reason="again")
    assert isinstance(refused, LifecycleRefused) and "already" in refused.message
    with vault.nothing_changes():
        assert vault.call("knowledge_withdraw", **request) == receipt
        assert vault.call("knowledge_resume", requestId="w")["receipt"] == receipt


def test_there_is_no_unwithdraw(vault: VaultBox) -> None:
    assert not [name for name in registry.operations() if "unwithdraw" in name]
    page = vault.page()
    vault.withdraw(page)
    refused = vault.refused("knowledge_unmerge", **vault.fence(page), reason="back")
    assert isinstance(refused, LifecycleRefused)
    refused = vault.refused("knowledge_save_page", **vault.fence(page), title="Back")
    assert isinstance(refused, LifecycleRefused)
    refused = vault.refused("knowledge_restore", id=page)
    assert vault.get(page)["lifecycle"] == "withdrawn"


def test_nothing_else_changes(vault: VaultBox) -> None:
    ada = vault.page()
    claim, linking = vault.claim(ada), vault.page("Babbage", body="See [[Ada]].")
    dependent = vault.page("On it", dependencies=[ada])
    mine = vault.relative(vault.path(ada))
    before = {p: b for p, b in vault.files().items() if p != mine}
    vault.withdraw(ada)
    assert {p: b for p, b in vault.files().items() if p != mine} == before
    for record in (claim, linking, dependent):
        view = vault.get(record)
        assert view["lifecycle"] == "active" and view["revision"] == 1
    assert linking in vault.listed(), "prose that mentions a page does not stand on it"
    assert not {claim, dependent} & vault.listed()


def test_a_merged_page_is_not_withdrawn_on_its_own(vault: VaultBox) -> None:
    ada, countess = vault.page(), vault.page("Countess")
    vault.merge(ada, countess)
    refused = vault.refused("knowledge_withdraw", **vault.fence(countess), reason="x")
    assert isinstance(refused, LifecycleRefused)
    assert ada in refused.message and "unmerge" in refused.message


def test_fences_hold(vault: VaultBox) -> None:
    page = vault.page()
    fence = vault.fence(page)
    vault.change(page, summary="x")
    refused = vault.refused("knowledge_withdraw", **fence, reason="x")
    assert isinstance(refused, StaleRevision)
    half = fence | {"expectedRevision": 2}
    assert isinstance(vault.refused("knowledge_withdraw", **half, reason="x"), StaleHash)


def test_a_record_whose_file_is_gone_is_restored_first(vault: VaultBox) -> None:
    page = vault.page()
    fence = vault.fence(page)
    vault.path(page).unlink()
    vault.scan()
    refused = vault.refused("knowledge_withdraw", **fence, reason="x")
    assert isinstance(refused, MissingFile) and f"vault-kg restore {page}" in refused.message


def test_the_name_of_a_record_that_is_not_current_says_by_which_id_it_is_read(
    vault: VaultBox,
) -> None:
    gone = vault.page("Gone One")
    path = vault.get(gone)["path"]
    vault.withdraw(gone)
    for name in ("gone one", path):
        refused = vault.refused("knowledge_lookup", text=name)
        assert isinstance(refused, NotFound)
        assert "was withdrawn" in refused.message and gone in refused.message
        (candidate,) = refused.data["candidates"]
        assert (candidate["id"], candidate["lifecycle"]) == (gone, "withdrawn")
    other = vault.page("Gone One")
    assert vault.lookup("Gone One") == other, "one that is current wins"
    vault.withdraw(other)
    refused = vault.refused("knowledge_lookup", text="Gone One")
    assert "2 records" in refused.message
    assert {c["id"] for c in refused.data["candidates"]} == {gone, other}


def test_the_name_of_a_claim_hidden_by_its_owner_says_so_and_nothing_to_whom_it_is_hidden(
    vault: VaultBox,
) -> None:
    page = vault.page("Ada", partition="alpha")
    claim = vault.claim(page, "Ada swims.", partition="beta")
    vault.withdraw(page)
    refused = vault.refused("knowledge_lookup", text="Ada swims.")
    assert claim in refused.message and "do not see" in refused.message
    for seen in ("alpha", "beta"):
        caller = Caller("x", partitions=frozenset({seen}))
        refused = vault.refused("knowledge_lookup", caller, text="Ada swims.")
        assert "nothing is called" in refused.message and claim not in str(refused.to_dict())
