"""Merging two pages that are one thing, and taking the merge back."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    MergedReference,
    NotFound,
    StaleRevision,
)


def pair(vault: VaultBox) -> tuple[str, str]:
    survivor = vault.page(
        "Ada Lovelace", aliases=["Ada"], tags=["maths"], summary="Mathematician",
        fields={"born": "1815-12-10", "nationality": "British"}, body="Her own words.",
    )  # fmt: skip
    absorbed = vault.page(
        "Augusta King", aliases=["ADA", "Countess"], tags=["Maths", "nobility"],
        summary="A countess", fields={"born": "1815-12-11", "died": "1852-11-27"},
        evidence=vault.evidence, body="Other words.",
    )  # fmt: skip
    return survivor, absorbed


def test_the_absorbed_page_stays_on_disk_as_merged(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    before = vault.get(absorbed)
    vault.merge(survivor, absorbed, reason="one person")
    view = vault.get(absorbed, followMerges=False)
    assert (view["lifecycle"], view["revision"], view["mergedInto"]) == ("merged", 2, survivor)
    assert view["body"] == before["body"] and view["fields"] == before["fields"]
    assert view["lifecycleChange"]["reason"] == "one person"
    assert vault.path(absorbed).exists()
    followed = vault.get(absorbed)
    assert followed["id"] == survivor and followed["followed"] == [absorbed]
    assert vault.get(survivor)["mergedFrom"] == [absorbed]


def test_the_survivor_gains_what_it_lacks_and_its_own_values_win(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    receipt = vault.merge(survivor, absorbed)
    view = vault.get(survivor)
    assert view["aliases"] == ["Ada", "Augusta King", "Countess"]
    assert view["tags"] == ["maths", "nobility"]
    assert view["fields"] == {"born": "1815-12-10", "nationality": "British", "died": "1852-11-27"}
    assert [e["source"] for e in view["evidence"]] == [vault.evidence[0]["source"]]
    assert view["summary"] == "Mathematician" and view["title"] == "Ada Lovelace"
    assert view["body"] == "Her own words.", "bodies are never combined"
    assert receipt["added"] == {
        "aliases": ["Augusta King", "Countess"], "tags": ["nobility"],
        "evidence": vault.evidence, "fields.died": "1852-11-27",
    }  # fmt: skip
    assert receipt["conflicts"] == [
        {"field": "fields.born", "survivor": "1815-12-10", "absorbed": "1815-12-11"},
        {"field": "summary", "survivor": "Mathematician", "absorbed": "A countess"},
    ]


def test_body_and_title_and_identity_evidence_may_be_supplied(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    identity = {"source": vault.source("They are one.\n", name="id.txt"), "lines": "1"}
    vault.merge(survivor, absorbed, body="Both.", title="Ada, Countess", evidence=[identity])
    view = vault.get(survivor)
    assert (view["body"], view["title"]) == ("Both.", "Ada, Countess")
    assert identity["source"] in [e["source"] for e in view["evidence"]]
    vault.unmerge(absorbed)
    view = vault.get(survivor)
    assert (view["body"], view["title"]) == ("Both.", "Ada, Countess"), "they stay"
    assert view["evidence"] == []


def test_identity_evidence_must_hold(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    for citation in ({"source": "sr_" + "0" * 26}, vault.evidence[0] | {"quote": "not there"}):
        refused = vault.refused(
            "knowledge_merge", **vault.merging(survivor, absorbed, evidence=[citation])
        )
        assert isinstance(refused, InvalidRecord) and "evidence" in refused.message


def test_one_merge_is_one_entry_and_one_commit(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    position, commits = vault.position, int(vault.git("rev-list", "--count", "HEAD"))
    vault.merge(survivor, absorbed)
    assert vault.position == position + 1
    assert int(vault.git("rev-list", "--count", "HEAD")) == commits + 1


def test_records_that_name_it_are_not_rewritten_and_every_read_means_the_survivor(
    vault: VaultBox,
) -> None:
    survivor, absorbed = pair(vault)
    babbage = vault.page("Babbage")
    claim, other = vault.claim(absorbed), vault.claim(babbage, entities=[absorbed])
    link = vault.relationship(absorbed, babbage)
    page = vault.page("On it", dependencies=[absorbed])
    linking = vault.page("Linking", body="[[Augusta King]]")
    untouched = {i: vault.path(i).read_bytes() for i in (claim, other, link, page, linking)}
    vault.merge(survivor, absorbed)
    assert {i: vault.path(i).read_bytes() for i in untouched} == untouched
    assert set(untouched) <= vault.listed()
    assert vault.get(claim)["owner"] == survivor
    assert vault.get(other)["entities"] == [survivor]
    assert vault.get(link)["from"] == survivor
    assert vault.get(page)["dependencies"] == [survivor]
    for owner in (survivor, absorbed):
        assert vault.listed(owner=owner) == {claim}
    (row,) = vault.call("knowledge_records", kind="claim", owner=survivor)["records"]
    assert row["owner"] == survivor
    for name in ("Augusta King", "countess", absorbed, "main/pages/person/augusta-king.md"):
        assert vault.lookup(name) == survivor
    edges = vault.call("knowledge_connections", id=absorbed)
    assert edges["id"] == survivor
    assert {e["source"] for e in edges["edges"]} >= {claim, other, page, linking}
    assert next(e for e in edges["edges"] if e["record"] == link)["source"] == survivor
    assert absorbed not in vault.listed() and vault.listed(lifecycle="merged") == {absorbed}


def test_a_list_read_back_can_be_sent_back(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    page = vault.page("On it", dependencies=[absorbed])
    vault.merge(survivor, absorbed)
    other = vault.page("Other")
    vault.change(page, dependencies=[*vault.get(page)["dependencies"], other])
    assert vault.get(page)["dependencies"] == [survivor, other]
    refused = vault.refused("knowledge_save_page", **vault.fence(page), dependencies=[absorbed])
    assert isinstance(refused, MergedReference) and refused.data["survivor"] == survivor


def test_only_two_active_pages_of_one_type_are_merged(vault: VaultBox) -> None:
    ada, topic, gone = vault.page(), vault.page("Ada", type="Topic"), vault.page("Gone")
    elsewhere = vault.page("Ada", partition="other")
    claim = vault.claim(ada)
    merged, into = vault.page("Merged"), vault.page("Into")
    vault.withdraw(gone)
    vault.merge(into, merged)
    cases: list[tuple[str, str, type[Exception], str]] = [
        (ada, topic, InvalidArgument, "Person"),
        (ada, ada, InvalidArgument, "itself"),
        (ada, gone, LifecycleRefused, "withdrawn"),
        (gone, ada, LifecycleRefused, "withdrawn"),
        (ada, merged, LifecycleRefused, into),
        (ada, claim, InvalidArgument, "claim"),
        (ada, elsewhere, InvalidArgument, "partition"),
    ]
    for survivor, absorbed, refusal, said in cases:
        refused = vault.refused("knowledge_merge", **vault.merging(survivor, absorbed))
        assert isinstance(refused, refusal) and said in refused.message, (survivor, absorbed)


def test_claims_are_not_merged_and_the_refusal_says_what_can_be_done(vault: VaultBox) -> None:
    ada = vault.page()
    first, second = vault.claim(ada), vault.claim(ada)
    refused = vault.refused("knowledge_merge", **vault.merging(first, second))
    assert isinstance(refused, InvalidArgument)
    assert "only pages are merged" in refused.message


def test_both_fences_hold(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    for stale in (survivor, absorbed):
        request = vault.merging(survivor, absorbed)
        vault.change(stale, summary=f"Changed {stale}")
        assert isinstance(vault.refused("knowledge_merge", **request), StaleRevision)


# Chains


def chain(vault: VaultBox, length: int) -> list[str]:
    """Merge page 0 into 1, 1 into 2, and so on."""
    pages = [vault.page(f"Page {n}") for n in range(length + 1)]
    for below, above in pairwise(pages):
        vault.merge(above, below)
    return pages


def test_chains_resolve_up_to_eight_hops_to_an_active_page(vault: VaultBox) -> None:
    pages = [vault.page(f"Page {n}") for n in range(10)]
    claim = vault.claim(pages[0])
    for n in range(8):
        vault.merge(pages[n + 1], pages[n])
    assert vault.get(pages[0])["id"] == pages[8] and len(vault.get(pages[0])["followed"]) == 8
    assert vault.lookup("Page 0") == pages[8]
    assert claim in vault.listed()
    refused = vault.refused("knowledge_merge", **vault.merging(pages[9], pages[8]))
    assert isinstance(refused, LifecycleRefused) and "8" in refused.message


def test_what_names_a_page_deep_in_a_chain_follows_what_happens_at_its_end(
    vault: VaultBox,
) -> None:
    pages = [vault.page(f"Page {n}") for n in range(4)]
    claim, on_claim = vault.claim(pages[0]), vault.page("On it")
    vault.change(on_claim, dependencies=[claim])
    for n in range(3):
        vault.merge(pages[n + 1], pages[n])
    assert {claim, on_claim} <= vault.listed()
    vault.withdraw(pages[3])
    assert not {claim, on_claim} & vault.listed()
    (finding,) = [f for f in vault.findings("merge_chain") if f["record"] == pages[2]]
    assert "withdrawn" in finding["message"]
    vault.unmerge(pages[2])
    assert vault.get(claim)["owner"] == pages[2]
    assert {claim, on_claim} <= vault.listed()


@pytest.mark.parametrize("shape", ["cycle", "itself", "dead end", "too long", "no target"])
def test_a_chain_that_leads_to_no_active_page_is_named_and_hides_what_refers_into_it(
    vault: VaultBox, shape: str
) -> None:
    ids = [made_id(n) for n in range(12)]
    links = {
        "cycle": [(0, 1), (1, 2), (2, 0)], "itself": [(0, 0)], "dead end": [(0, 99)],
        "too long": [(n, n + 1) for n in range(9)], "no target": [(0, None)],
    }[shape]  # fmt: skip
    for below, above in links:
        target = None if above is None else ids[above] if above < 12 else made_id(99)
        vault.put(
            f"main/pages/person/p{below}.md",
            record_file(ids[below], lifecycle="merged", merged_into=target, title=f"P{below}"),
        )
    if shape == "too long":
        vault.put("main/pages/person/p9.md", record_file(ids[9], title="P9"))
    vault.put(
        "main/pages/person/on.md", record_file(made_id(50), dependencies=f"[{ids[0]}]", title="On")
    )
    vault.scan()
    assert vault.listed() & {made_id(50)} == ({made_id(50)} if shape == "no target" else set())
    if shape == "no target":  # it says too little to be obeyed
        assert vault.get(ids[0])["lifecycle"] == "active"
        assert vault.findings("lifecycle_edited")
        return
    assert ids[0] in {f["record"] for f in vault.findings("merge_chain")}
    assert "unmerge it" in vault.findings("merge_chain")[0]["hint"]
    view = vault.get(ids[0], followMerges=False)
    assert view["lifecycle"] == "merged"
    if shape != "dead end":
        refused = vault.refused("knowledge_get", id=ids[0])
        assert isinstance(refused, InvalidRecord) and "diagnostics" in refused.message
    else:
        assert isinstance(vault.refused("knowledge_get", id=ids[0]), NotFound)
    reasons = {r["code"] for r in vault.get(made_id(50))["reasons"]}
    assert reasons & {"merge_chain", "reference_missing"}
    vault.unmerge(ids[8] if shape == "too long" else ids[0])
    assert made_id(50) in vault.listed()


def test_what_names_an_absorbed_page_holds_again_when_the_survivors_file_comes_back(
    vault: VaultBox,
) -> None:
    pages = [vault.page(f"Page {n}") for n in range(3)]
    claim, link = vault.claim(pages[0]), vault.relationship(pages[0], vault.page("Apart"))
    vault.merge(pages[1], pages[0])
    vault.merge(pages[2], pages[1])
    path = vault.path(pages[2])
    content = path.read_bytes()
    path.unlink()
    vault.scan()
    vault.edit(claim, "Ada wrote", "Ada once wrote")  # judged anew while the page is gone
    vault.scan()
    assert not {claim, link} & vault.listed()
    path.write_bytes(content)
    vault.scan()
    assert {claim, link} <= vault.listed() and vault.findings() == []


# Unmerge


def test_unmerge_gives_back_the_bytes_as_they_were_but_revision_and_time(
    vault: VaultBox,
) -> None:
    survivor, absorbed = pair(vault)
    before = {i: vault.path(i).read_text() for i in (survivor, absorbed)}
    vault.merge(survivor, absorbed)
    receipt = vault.unmerge(absorbed)
    assert receipt["targetId"] == absorbed and receipt["revision"] == 3
    assert receipt["kept"] == {}
    for record, text in before.items():
        now = vault.path(record).read_text()
        strange = set(text.splitlines()) ^ set(now.splitlines())
        assert all(line.startswith(("revision:", "updated_at:")) for line in strange), strange
    view = vault.get(absorbed)
    assert view["id"] == absorbed and view["lifecycle"] == "active" and view["mergedInto"] is None
    assert {survivor, absorbed} <= vault.listed()


def test_values_edited_since_are_kept(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    vault.merge(survivor, absorbed)
    vault.change(
        survivor, fields={"died": "1852-11-28"}, aliases=["Ada", "Augusta King", "The Countess"]
    )
    receipt = vault.unmerge(absorbed)
    assert receipt["kept"] == {"aliases": ["Countess"], "fields.died": "1852-11-27"}
    assert receipt["removed"]["aliases"] == ["Augusta King"]
    view = vault.get(survivor)
    assert view["aliases"] == ["Ada", "The Countess"]
    assert view["fields"]["died"] == "1852-11-28"
    assert view["tags"] == ["maths"] and view["evidence"] == []


def test_a_value_that_another_merged_page_gives_too_stays(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    first = vault.page("First", aliases=["email:ada@example.org"], tags=["x"])
    second = vault.page("Second", aliases=["email:ada@example.org"], tags=["x"])
    vault.merge(ada, first)
    vault.merge(ada, second)
    vault.unmerge(first)
    view = vault.get(ada)
    assert view["aliases"] == ["email:ada@example.org", "Second"] and view["tags"] == ["x"]
    vault.unmerge(second)
    view = vault.get(ada)
    assert view["aliases"] == [] and view["tags"] == []


@pytest.mark.parametrize("key", ["tags", "fields", "aliases"])
def test_an_empty_key_that_stood_before_comes_back_as_it_was(vault: VaultBox, key: str) -> None:
    survivor, absorbed = vault.page("Ada"), pair(vault)[1]
    empty = "{}" if key == "fields" else "[]"
    vault.edit(survivor, "title: Ada\n", f"title: Ada\n{key}: {empty}\n")
    vault.scan()
    vault.merge(survivor, absorbed)
    vault.unmerge(absorbed)
    assert f"\n{key}: {empty}\n" in vault.path(survivor).read_text()


def test_a_merge_below_another_merge_is_refused_with_the_one_to_undo_first(
    vault: VaultBox,
) -> None:
    first, second, third = chain(vault, 2)
    refused = vault.refused("knowledge_unmerge", **vault.fence(first), reason="two")
    assert isinstance(refused, LifecycleRefused)
    assert refused.data["unmerge_first"] == second and third in refused.message
    vault.unmerge(second)
    vault.unmerge(first)
    assert {first, second, third} <= vault.listed()


def test_a_page_that_is_not_merged_cannot_be_unmerged(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    for page in (survivor, absorbed):
        refused = vault.refused("knowledge_unmerge", **vault.fence(page), reason="x")
        assert isinstance(refused, LifecycleRefused) and "is not merged" in refused.message


def test_unmerging_from_a_withdrawn_survivor_brings_the_page_back(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    claim = vault.claim(absorbed)
    vault.merge(survivor, absorbed)
    vault.withdraw(survivor)
    assert claim not in vault.listed()
    vault.unmerge(absorbed)
    assert vault.get(survivor)["lifecycle"] == "withdrawn"
    assert {absorbed, claim} <= vault.listed()


def test_merge_and_unmerge_can_be_done_again(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    for _ in range(3):
        vault.merge(survivor, absorbed)
        vault.unmerge(absorbed)
    vault.merge(absorbed, survivor)
    assert vault.get(survivor)["id"] == absorbed
    history = vault.history(survivor)
    assert [r["revision"] for r in history] == list(range(len(history), 0, -1))


def test_the_same_merge_request_again_gives_the_same_receipt(vault: VaultBox) -> None:
    survivor, absorbed = pair(vault)
    request = vault.merging(survivor, absorbed) | {"requestId": "m"}
    first = vault.call("knowledge_merge", **request)
    with vault.nothing_changes():
        assert vault.call("knowledge_merge", **request) == first


# Candidates


def test_a_shared_namespaced_alias_is_a_strong_candidate(vault: VaultBox) -> None:
    first = vault.page("PostgreSQL", type="Entity", aliases=["wikidata:Q192490"])
    second = vault.page("Postgres", type="Entity", aliases=["Wikidata:q192490"])
    vault.page("Postgres docs", type="Document", aliases=["wikidata:Q192490"])
    found = vault.call("knowledge_diagnostics")["mergeCandidates"]
    (candidate,) = [c for c in found if c["strength"] == "strong"]
    assert {candidate["first"], candidate["second"]} == {first, second}
    assert "wikidata:q192490" in candidate["reason"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("GPT-4", "GPT 4"), ("NASA", "nasa"), ("Ada  Lovelace", "ada lovelace"), ("ﬁne", "fine"),
     ("naïve", "nai\u0308ve"), ("Q3: Report!", "q3 report")],
)  # fmt: skip
def test_an_equal_normalised_title_is_a_weak_candidate_with_the_reason(
    vault: VaultBox, first: str, second: str
) -> None:  # C11
    ids = {vault.page(first, type="Entity"), vault.page(second, type="Entity")}
    (candidate,) = vault.call("knowledge_diagnostics")["mergeCandidates"]
    assert {candidate["first"], candidate["second"]} == ids
    assert candidate["strength"] == "weak" and "titles" in candidate["reason"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("ADR 2018", "ADR 2019"), ("RFC 9110", "RFC 9111"), ("Phase A", "Phase B"), ("UK", "USA"),
     ("IBM", "IBM Corp"), ("PostgreSQL", "Postgres"), ("Résumé", "Resume")],
)  # fmt: skip
def test_similar_names_are_never_one_thing(vault: VaultBox, first: str, second: str) -> None:  # C10
    ids = {vault.page(first, type="Entity"), vault.page(second, type="Entity")}
    assert vault.candidates() == set() and len(ids) == 2
    assert vault.lookup(first) != vault.lookup(second)


def test_a_shared_plain_alias_or_another_type_is_no_candidate(vault: VaultBox) -> None:
    vault.page("One", aliases=["Same"])
    vault.page("Two", aliases=["same"])
    vault.page("adr", type="Topic")
    vault.page("ADR", type="Document")
    assert vault.candidates() == set()


def test_a_pair_that_a_person_declined_is_remembered_and_not_proposed_again(
    vault: VaultBox,
) -> None:
    first, second, third = (vault.page("Same name") for _ in range(3))
    pairs = {frozenset(p) for p in ((first, second), (first, third), (second, third))}
    assert vault.candidates() == pairs
    vault.call("knowledge_decline_merge", first=second, second=first, reason="father and son")
    vault.reopen()
    assert vault.candidates() == pairs - {frozenset((first, second))}
    vault.change(first, summary="Changed")
    vault.scan()
    assert frozenset((first, second)) not in vault.candidates()


def test_only_two_different_pages_can_be_declined(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    for first, second in ((ada, ada), (ada, claim)):
        with vault.nothing_changes(), pytest.raises(InvalidArgument):
            vault.call("knowledge_decline_merge", first=first, second=second, reason="x")


def test_candidates_are_current_pages_only(vault: VaultBox) -> None:
    first, second = vault.page("Same"), vault.page("same")
    vault.merge(first, second)
    assert vault.candidates() == set()
    third = vault.page("SAME")
    assert vault.candidates() == {frozenset((first, third))}
    vault.withdraw(third)
    assert vault.candidates() == set()
