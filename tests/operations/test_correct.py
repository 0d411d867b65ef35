"""Correcting: the original keeps its words and is superseded; the replacement is a new record."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    MergedReference,
    NotFound,
    ReservedEdgeType,
    StaleOntology,
)


def test_both_changes_are_one_entry_one_receipt_and_one_commit(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada, "Ada was born in 1816.", tags=["life"])
    before = vault.get(claim)
    position, commits = vault.position, int(vault.git("rev-list", "--count", "HEAD"))
    receipt = vault.correct(claim, vault.claim_values(ada, "Ada was born in 1815."), reason="typo")
    assert vault.position == position + 1
    assert int(vault.git("rev-list", "--count", "HEAD")) == commits + 1
    assert len(vault.git("show", "--name-only", "--format=", "HEAD").splitlines()) == 2

    original, replacement = vault.get(claim), vault.get(receipt["replacementId"])
    assert receipt["targetId"] == claim and receipt["reason"] == "typo"
    assert receipt["revision"] == original["revision"] == 2
    assert original["lifecycle"] == "superseded"
    assert original["supersededBy"] == replacement["id"]
    kept = ("body", "evidence", "tags", "title", "owner", "confidence", "recordedAt", "path")
    assert all(original[key] == before[key] for key in kept), "content and evidence stay"
    change = original["lifecycleChange"]
    assert change["reason"] == "typo" and change["actor"] == "tester"
    assert change["request_id"] == receipt["requestId"] and change["at"]
    assert replacement["revision"] == 1 and replacement["supersedes"] == claim
    assert replacement["body"] == "Ada was born in 1815." and replacement["eligible"]
    assert claim not in vault.listed() and replacement["id"] in vault.listed()


def test_only_lifecycle_lines_of_the_original_change(vault: VaultBox) -> None:
    claim = vault.claim(vault.page())
    path = vault.path(claim)
    before = path.read_text()
    vault.correct(claim, vault.claim_values(vault.get(claim)["owner"]))
    keys = ("revision:", "updated_at:", "lifecycle:", "superseded_by:", "lifecycle_change:", "  ")
    strange = [
        line for line in set(before.splitlines()) ^ set(path.read_text().splitlines())
        if not line.startswith(keys)
    ]  # fmt: skip
    assert strange == []


def test_a_relationship_is_corrected_like_a_claim(vault: VaultBox) -> None:
    ada, babbage, turin = vault.page(), vault.page("Babbage"), vault.page("Turin", type="Place")
    first, twin = vault.relationship(ada, babbage), vault.relationship(ada, babbage)
    receipt = vault.correct(first, vault.relationship_values(ada, babbage, "They met in 1833."))
    assert vault.get(first)["lifecycle"] == "superseded"
    assert vault.get(twin)["lifecycle"] == "active"
    replacement = vault.get(receipt["replacementId"])
    assert (replacement["from"], replacement["to"]) == (ada, babbage)
    assert turin not in {replacement["from"], replacement["to"]}


def test_an_expired_claim_can_be_corrected(vault: VaultBox) -> None:
    ada = vault.page()
    expired = vault.claim(ada, expiresAt="2026-02-01")
    assert not vault.get(expired)["eligible"]
    receipt = vault.correct(expired, vault.claim_values(ada))
    assert vault.get(receipt["replacementId"])["eligible"]


def test_a_page_is_not_corrected_but_edited(vault: VaultBox) -> None:
    ada = vault.page()
    refused = vault.refused("knowledge_correct", **vault.correction(ada, vault.claim_values(ada)))
    assert isinstance(refused, InvalidArgument)
    assert "knowledge_save_page" in refused.message and "knowledge_edit_body" in refused.message


@pytest.mark.parametrize("state", ["superseded", "withdrawn"])
def test_an_inactive_target_is_refused_saying_which(vault: VaultBox, state: str) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    if state == "superseded":
        successor = vault.correct(claim, vault.claim_values(ada))["replacementId"]
        last = vault.correct(successor, vault.claim_values(ada))["replacementId"]
    else:
        vault.withdraw(claim)
    refused = vault.refused("knowledge_correct", **vault.correction(claim, vault.claim_values(ada)))
    assert isinstance(refused, LifecycleRefused)
    assert state in refused.message and refused.data["lifecycle"] == state
    if state == "superseded":
        assert f"take {last} instead" in refused.message


def test_an_invalid_target_is_refused_saying_so(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada, confidence=0.5)
    vault.edit(claim, "confidence: 0.5", "confidence: high")
    vault.scan()
    refused = vault.refused("knowledge_correct", **vault.correction(claim, vault.claim_values(ada)))
    assert isinstance(refused, InvalidRecord) and "validation findings" in refused.message
    assert vault.get(claim)["path"] in refused.message


def test_the_replacement_is_of_the_same_kind(vault: VaultBox) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    claim = vault.claim(ada)
    wrong = vault.correction(claim, vault.relationship_values(ada, babbage))
    refused = vault.refused("knowledge_correct", **wrong)
    assert isinstance(refused, InvalidArgument) and "must be one too" in refused.message
    for kind in ("page", None, "note"):
        wrong = vault.correction(claim, vault.claim_values(ada) | {"kind": kind})
        assert isinstance(vault.refused("knowledge_correct", **wrong), InvalidArgument)


@pytest.mark.parametrize("key", ["claimKind", "statement", "owner", "evidence"])
def test_the_replacement_is_complete(vault: VaultBox, key: str) -> None:
    ada = vault.page()
    replacement = vault.claim_values(ada)
    del replacement[key]
    refused = vault.refused("knowledge_correct", **vault.correction(vault.claim(ada), replacement))
    assert isinstance(refused, InvalidArgument)
    assert f"replacement.claim.{key}: field required" in refused.message


def test_the_replacement_is_validated_like_a_create(vault: VaultBox) -> None:
    ada, merged, gone = vault.page(), vault.page("Countess"), vault.page("Gone")
    vault.merge(ada, merged)
    vault.withdraw(gone)
    claim, link = vault.claim(ada), vault.relationship(ada, vault.page("Babbage"))
    cases: list[tuple[str, dict[str, Any], type[Exception]]] = [
        (claim, vault.claim_values("pg_" + "0" * 26), InvalidRecord),
        (claim, vault.claim_values(merged), MergedReference),
        (claim, vault.claim_values(gone), InvalidRecord),
        (claim, vault.claim_values(ada, evidence=[{"source": "sr_" + "0" * 26}]), InvalidRecord),
        (claim, vault.claim_values(ada, evidence=[]), InvalidArgument),
        (claim, vault.claim_values(ada, validFrom="soon"), InvalidRecord),
        (link, vault.relationship_values(ada, ada, type="mentions"), ReservedEdgeType),
        (link, vault.relationship_values(ada, vault.page("X", "Place")), InvalidRecord),
    ]
    for target, replacement, refusal in cases:
        refused = vault.refused("knowledge_correct", **vault.correction(target, replacement))
        assert isinstance(refused, refusal), replacement
        assert vault.get(target)["lifecycle"] == "active"


def test_the_replacement_may_not_depend_on_the_original_or_its_dependents(
    vault: VaultBox,
) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    on_it = vault.page("On it", dependencies=[claim])
    on_that = vault.page("On that", dependencies=[on_it])
    twin = vault.page("Twin of it")
    vault.merge(on_that, twin)
    for replacement in (
        vault.claim_values(ada, dependencies=[claim]),
        vault.claim_values(on_it),
        vault.claim_values(ada, entities=[on_that]),
    ):
        refused = vault.refused("knowledge_correct", **vault.correction(claim, replacement))
        assert isinstance(refused, InvalidRecord)
        assert "stands on it" in refused.message and refused.data["id"]


def test_dependents_through_a_chain_of_merges_are_dependents(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    first, second, third = (vault.page(f"Page {n}") for n in range(3))
    on_first = vault.page("On the first", dependencies=[first])
    vault.change(third, dependencies=[claim])
    vault.merge(second, first)
    vault.merge(third, second)
    refused = vault.refused(
        "knowledge_correct", **vault.correction(claim, vault.claim_values(on_first))
    )
    assert isinstance(refused, InvalidRecord) and "stands on it" in refused.message


def test_a_stale_vocabulary_is_refused_and_a_missing_one_too(vault: VaultBox) -> None:
    ada = vault.page()
    correction = vault.correction(vault.claim(ada), vault.claim_values(ada))
    refused = vault.refused(
        "knowledge_correct", **correction | {"expectedOntologyFingerprint": "0" * 64}
    )
    assert isinstance(refused, StaleOntology)
    del correction["expectedOntologyFingerprint"]
    assert isinstance(vault.refused("knowledge_correct", **correction), InvalidArgument)


@pytest.mark.parametrize("reason", ["", "  \n ", None])
def test_the_reason_is_not_blank(vault: VaultBox, reason: str | None) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    for name, request in (
        ("knowledge_correct", vault.correction(claim, vault.claim_values(ada))),
        ("knowledge_withdraw", vault.fence(claim)),
    ):
        refused = vault.refused(name, **request | {"reason": reason})
        assert isinstance(refused, InvalidArgument) and "reason" in refused.message


def test_an_unknown_target_is_not_found(vault: VaultBox) -> None:
    ada = vault.page()
    correction = vault.correction(vault.claim(ada), vault.claim_values(ada))
    refused = vault.refused("knowledge_correct", **correction | {"id": "cl_" + "0" * 26})
    assert isinstance(refused, NotFound)


def test_from_every_link_of_a_chain_the_head_is_found(vault: VaultBox) -> None:  # C36
    ada = vault.page()
    a = vault.claim(ada, "A", title="The first wording")
    b = vault.correct(a, vault.claim_values(ada, "B"))["replacementId"]
    c = vault.correct(b, vault.claim_values(ada, "C", title="The last wording"))["replacementId"]
    for start in (a, b, c, "The first wording", "the last wording"):
        assert vault.lookup(start) == c
    assert vault.call("knowledge_lookup", text=a)["followed"] == a
    assert [vault.get(i)["currentId"] for i in (a, b, c)] == [c, c, c]
    assert vault.get(a)["supersededBy"] == b, "exact reads say what the record itself says"
    vault.withdraw(c)
    refused = vault.refused("knowledge_lookup", text=a)
    assert isinstance(refused, NotFound)
    assert vault.get(a)["currentId"] is None


def test_the_impact_lists_what_still_stands_on_the_original(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    on_it = vault.page("On it", dependencies=[claim])
    told = vault.call("knowledge_impact", id=claim, operation="correct")
    receipt = vault.correct(claim, vault.claim_values(ada))
    assert receipt["impact"] == told
    assert [i["id"] for i in told["items"]] == [on_it]
    assert on_it not in vault.listed(), "hidden, and neither changed nor withdrawn"
    assert vault.get(on_it)["lifecycle"] == "active" and vault.get(on_it)["revision"] == 1


def test_the_same_correction_again_gives_the_same_receipt(vault: VaultBox) -> None:
    ada = vault.page()
    request = vault.correction(vault.claim(ada), vault.claim_values(ada)) | {"requestId": "c"}
    first = vault.call("knowledge_correct", **request)
    with vault.nothing_changes():
        assert vault.call("knowledge_correct", **request) == first
    again = vault.refused("knowledge_correct", **request | {"requestId": "d"})
    assert isinstance(again, LifecycleRefused)


def test_new_evidence_never_supersedes_anything_by_itself(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada, "She was born in 1816.")
    vault.source("Ada was born in 1815.\n", name="register.txt")
    assert vault.get(claim)["lifecycle"] == "active" and claim in vault.listed()


def test_a_replacement_stays_in_the_partition_of_the_original(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    refused = vault.refused(
        "knowledge_correct",
        **vault.correction(claim, vault.claim_values(ada, partition="elsewhere")),
    )
    assert isinstance(refused, InvalidArgument) and "partition" in refused.message
