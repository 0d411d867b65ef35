"""A caller of some partitions meets no id of anything that lies in another one, whatever it asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, Clock, VaultBox
from tests.operations.conftest import fast_folder
from tests.store import trials
from tests.store.trials import Call
from vault_kg.errors import NotFound, StaleRevision, VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.state import revisions

SECRET = "secret"
MAIN = Caller("c", partitions=frozenset({"main"}))
ID = re.compile(r"\b(?:pg|cl|re|sr)_[0-9a-z]{26}\b")


class Joined(VaultBox):
    """A vault in which records of one partition name records of another in every way."""

    def fill(self) -> None:
        self.ada, self.bob = self.page("Ada"), self.page("Bob")
        self.hidden = self.page("Zugzwang", partition=SECRET)
        self.other = self.page("Zwischenzug", partition=SECRET)
        secret = self.source("Unseen words.\n", "unseen.txt", partition=SECRET)
        cited = [*self.evidence, {"source": secret}]
        self.seen_edge = self.relationship(self.ada, self.bob, fact="They met.")
        self.edge_to = self.relationship(self.ada, self.hidden, fact="She plays.", partition="main")
        self.edge_from = self.relationship(
            self.hidden, self.ada, fact="It waits.", partition="main"
        )
        self.claim_of = self.claim(self.hidden, "It is owned elsewhere.", partition="main")
        self.claim_on = self.claim(
            self.ada, "She speaks of both.", entities=[self.bob, self.hidden], evidence=cited
        )
        self.page_on = self.page("Stands", type="Topic", dependencies=[self.hidden, self.bob])
        self.change(self.page_on, summary="Changed.")
        self.gone = self.relationship(self.ada, self.other, fact="Over.", partition="main")
        self.withdraw(self.gone)
        self.dependent = self.page("On the edge", type="Topic", dependencies=[self.edge_to])
        self.withdraw(self.other)
        self.scan()

    @property
    def about_hidden(self) -> set[str]:
        """Records of a partition that is seen, which do not exist for who does not see the other."""
        return {self.edge_to, self.edge_from, self.claim_of, self.gone}

    @property
    def hidden_ids(self) -> set[str]:
        every = {*ID.findall(json.dumps([f.decode() for f in self.files().values()]))}
        heads = {uid: revisions.head(self.ws.database, uid) for uid in every}
        hidden = {
            uid for uid, head in heads.items() if head is not None and head.partition == SECRET
        }
        sources = self.call("knowledge_sources", ANYBODY, limit=100)["sources"]
        return hidden | {s["id"] for s in sources if s["partition"] == SECRET}


@pytest.fixture(scope="module")
def joined() -> Iterator[Joined]:
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        box = Joined(Path(name) / "vault", Clock())
        box.fill()
        yield box
        box.ws.close()


def cases(box: Joined) -> dict[str, list[dict[str, Any]]]:
    """Every way to ask a read of the records family."""
    ids = [
        box.ada, box.bob, box.hidden, box.seen_edge, box.edge_to, box.edge_from, box.claim_of,
        box.claim_on, box.page_on, box.gone, box.dependent,
    ]  # fmt: skip
    moments: list[dict[str, Any]] = [
        {}, {"asOf": {"time": "2027-01-01"}}, {"asOf": {"revision": box.position}},
        {"asOf": {"commit": box.git("rev-parse", "HEAD")}},
    ]  # fmt: skip
    lists = [
        m | more for m in moments for more in ({}, {"lifecycle": "all"}, {"owner": box.hidden})
    ]
    words = ("she plays waits", "owned elsewhere", "Zugzwang", "speaks both", "over")
    return {
        "knowledge_get": [
            {"id": i} | m for i in ids for m in [*moments, {"revision": 1}, {"followMerges": False}]
        ],
        "knowledge_history": [{"id": i, "diff": d} for i in ids for d in (True, False)],
        "knowledge_connections": [
            {"id": i, "depth": 5} | m for i in ids for m in moments
        ],
        "knowledge_impact": [{"id": i} for i in ids],
        "knowledge_lookup": [
            {"text": t} | m for t in [*ids, "Ada", "Zugzwang", "She plays."] for m in moments
        ],
        "knowledge_records": lists,
        "knowledge_search": [
            {"query": w, "lifecycle": c} for w in words for c in ("current", "historical")
        ] + [{"query": w} | m for w in words for m in moments[1:]],
        "knowledge_diagnostics": [{}, {"section": "files"}, {"section": "guards"}],
        "knowledge_ontology": [{"includeRecords": True, "limit": 200}],
        "knowledge_browse": [{}, {"lifecycle": "all"}, {"text": "z"}],
        "knowledge_shelves": [{}, {"lifecycle": "all"}],
        "knowledge_sources": [{}], "knowledge_activity": [{"limit": 100}],
        "knowledge_status": [{}], "knowledge_conflicts": [{}],
        "knowledge_source": [{"id": i} for i in box.hidden_ids],
    }  # fmt: skip


READS = sorted(
    name
    for name, found in registry.operations().items()
    if found.read_only and found.toolset in ("records", "ui") and name != "knowledge_conflict"
)


def test_every_read_of_the_family_is_asked(joined: Joined) -> None:
    assert set(cases(joined)) == set(READS)


@pytest.mark.parametrize("name", READS)
def test_no_id_of_a_hidden_record_is_shown(joined: Joined, name: str) -> None:
    hidden = joined.hidden_ids | joined.about_hidden
    assert len(hidden) >= 7
    for arguments in cases(joined)[name]:
        try:
            answer: dict[str, Any] = registry.call(joined.ws, name, arguments, MAIN)
        except VaultError as error:
            answer = error.to_dict()
        told = set(ID.findall(json.dumps(answer))) - set(ID.findall(json.dumps(arguments)))
        assert not told & hidden, (arguments, told & hidden)


def test_what_is_about_something_hidden_is_not_there(joined: Joined) -> None:
    for record in (joined.edge_to, joined.edge_from, joined.claim_of, joined.gone, joined.hidden):
        for name in ("get", "history", "connections", "impact"):
            with pytest.raises(NotFound) as caught:
                joined.call(f"knowledge_{name}", MAIN, id=record)
            assert caught.value.message.startswith(f"there is no record {record}")
    listed = joined.listed(MAIN)
    assert {joined.ada, joined.seen_edge, joined.claim_on, joined.page_on} <= listed
    assert not {joined.edge_to, joined.edge_from, joined.claim_of} & listed
    found = joined.call("knowledge_records", MAIN, lifecycle="all", limit=1)
    assert found["total"] == len(joined.listed(MAIN, lifecycle="all"))
    shelves = joined.call("knowledge_shelves", MAIN)["shelves"]
    assert sum(s["records"] for s in shelves) == len(listed)
    status = joined.call("knowledge_status", MAIN)
    assert sum(status["records"].values()) == len(listed)
    assert joined.gone not in joined.listed(MAIN, lifecycle="all")
    entries = joined.call("knowledge_activity", MAIN, limit=100)["entries"]
    touched = {t["id"] for entry in entries for t in entry["touched"]}
    assert (
        joined.page_on in touched and not {joined.edge_to, joined.claim_of, joined.gone} & touched
    )
    assert all(entry["label"] != "She plays." for entry in entries)


def test_a_relationship_is_one_connection_of_its_ends(joined: Joined) -> None:
    for more in ({}, {"asOf": {"time": joined.ws.now()}}):
        found = joined.call(
            "knowledge_connections", id=joined.bob, types=["knows", "endpoint"], **more
        )
        assert [edge["record"] for edge in found["edges"]] == [joined.seen_edge]
        assert found["totalEdges"] == found["totalNodes"] == 1
    ends = joined.call("knowledge_connections", id=joined.seen_edge, types=["endpoint"])
    assert {edge["target"] for edge in ends["edges"]} == {joined.ada, joined.bob}


def test_what_else_is_named_is_left_out(joined: Joined) -> None:
    claim, page = (
        joined.call("knowledge_get", MAIN, id=i) for i in (joined.claim_on, joined.page_on)
    )
    assert claim["entities"] == [joined.bob] and page["dependencies"] == [joined.bob]
    assert len(claim["evidence"]) == claim["evidenceTotal"] == 1
    diff = joined.call("knowledge_history", MAIN, id=joined.page_on, diff=True)["revisions"]
    assert "(hidden)" in str(diff) and joined.bob in str(diff)
    whole = joined.call("knowledge_get", id=joined.claim_on)
    assert whole["entities"] == [joined.bob, joined.hidden] and whole["evidenceTotal"] == 2


def test_a_stale_fence_does_not_tell_either(joined: Joined) -> None:
    fence = joined.fence(joined.page_on) | {"expectedRevision": 1, "requestId": "stale"}
    with pytest.raises(StaleRevision) as caught:
        joined.call("knowledge_save_page", MAIN, **fence, summary="x")
    assert caught.value.data["current"]["dependencies"] == [joined.bob]


def test_what_is_hidden_stays_when_a_caller_changes_the_rest(joined: Joined) -> None:
    fence = joined.fence(joined.page_on)
    joined.write("knowledge_save_page", MAIN, **fence, summary="By one who sees half.")
    stands = joined.call("knowledge_get", id=joined.page_on)
    assert stands["dependencies"] == [joined.hidden, joined.bob]


def test_a_conflict_about_something_hidden_waits_for_somebody_who_sees_it() -> None:
    with fast_folder() as name:
        box = Joined(Path(name) / "vault", Clock())
        hidden = box.page("Zugzwang", partition=SECRET)
        edge = box.relationship(box.page("Ada"), hidden, fact="She plays.", partition="main")
        path, fence = box.path(edge), box.fence(edge)
        box.ws.close()
        call = Call("knowledge_withdraw", {"requestId": "w", **fence, "reason": "not so"})
        child = trials.start(box.root, call, "accept.after=pause")
        child.wait_for_pause()
        path.write_bytes(path.read_bytes() + b"\nBy hand.\n")
        conflict = child.go_on()["error"]["data"]["conflict_id"]
        with trials.looking_at(box.root) as again:
            for caller, count in ((ANYBODY, 1), (MAIN, 0)):
                assert again.call("knowledge_conflicts", caller)["count"] == count
            assert hidden in str(again.call("knowledge_conflict", conflictId=conflict))
            with pytest.raises(NotFound):
                again.call("knowledge_conflict", MAIN, conflictId=conflict)
