"""Bounded rebuilds: what came after the bound is gone from the tree until it is asked back."""

from __future__ import annotations

import dataclasses
import random
import re
from typing import Any

import pytest

from tests.operations.builder import ANYBODY
from tests.operations.graph.graphs import Graph
from vault_kg.errors import Cancelled
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.store.git import History
from vault_kg.store.recovery import recover

TOLD = (
    "left_out", "rolled_back", "kept", "sources_left_out", "records_restored", "files_restored",
    "rolled_forward", "success",
)  # fmt: skip
STAMPED = re.compile(rb"^(revision|updated_at): .*\n", re.MULTILINE)


def texts(graph: Graph) -> dict[str, bytes]:
    """Return the files of the graph without what every new revision changes."""
    files = {p: b for p, b in graph.files().items() if not p.startswith(".")}
    return {p: STAMPED.sub(b"", b) for p, b in files.items()}


def ids(items: list[dict[str, Any]]) -> set[str]:
    return {item["uuid"] for item in items}


def test_what_came_later_is_left_out_and_what_changed_is_rolled_back(graph: Graph) -> None:
    ada, bob = graph.page("Ada", summary="First."), graph.page("Bob")
    claim = graph.claim(ada)
    position, then = graph.position, texts(graph)
    graph.change(ada, summary="Second.")
    cy = graph.page("Cy")
    edge = graph.edge("Ada", "knows", "Cy")
    late = graph.claim(bob, "Later.")
    latest, sources = texts(graph), graph.episode_ids()

    with graph.nothing_changes():
        plan = graph.ask("rebuild_from_wal", to_seq=position, dry_run=True)
    done = graph.ask("rebuild_from_wal", to_seq=position)
    assert {k: done[k] for k in TOLD} == {k: plan[k] for k in TOLD}
    assert ids(done["left_out"]) == {cy, edge, late} and ids(done["rolled_back"]) == {ada}
    assert (done["to_seq"], done["kept"], done["sources_left_out"]) == (position, [], 1)
    assert texts(graph) == then
    assert graph.get(ada)["summary"] == "First." and graph.get(ada)["revision"] == 3
    assert graph.listed() == {ada, bob, claim} and len(graph.episode_ids()) == len(sources) - 1
    assert [r["revision"] for r in graph.history(ada)] == [3, 2, 1], "history keeps the later one"
    assert graph.findings(section="files") == []

    graph.ask("build_indices")
    graph.scan()
    graph.reopen()
    graph.ask("rebuild_from_wal", to_seq=graph.position)
    assert texts(graph) == then, "it stays left out"

    back = graph.ask("rebuild_from_wal")
    assert (back["records_restored"], back["rolled_forward"], back["files_restored"]) == (3, 1, 2)
    assert texts(graph) == latest and graph.episode_ids() == sources
    assert graph.get(ada)["summary"] == "Second." and graph.get(cy)["revision"] == 1
    assert graph.ask("rebuild_from_wal")["changed"] is False


def test_withdrawals_supersessions_and_merges_stay(graph: Graph) -> None:
    ada, twin, other = graph.page("Ada"), graph.page("Countess"), graph.page("Other")
    gone, wrong = graph.claim(ada, "Gone."), graph.claim(ada, "Wrong.")
    position = graph.position
    graph.withdraw(gone)
    right = graph.correct(wrong, graph.claim_values(ada, "Right."))["replacementId"]
    graph.merge(ada, twin)
    graph.change(other, summary="New.")
    before = texts(graph)
    done = graph.ask("rebuild_from_wal", to_seq=position)
    why = {item["uuid"]: item["why"] for item in done["kept"]}
    assert set(why) == {gone, wrong, right, ada, twin}
    assert "withdrawn" in why[gone] and "superseded" in why[wrong] and "replaces" in why[right]
    assert ids(done["rolled_back"]) == {other}
    changed = {p for p, b in texts(graph).items() if before[p] != b}
    assert changed == {graph.relative(graph.path(other))}
    assert graph.listed() == {ada, other, right}


def test_a_person_s_edits_and_files_stay(graph: Graph) -> None:
    ada, bob = graph.page("Ada", body="Text."), graph.page("Bob", body="Text.")
    position = graph.position
    graph.edit(ada, "Text.", "By hand.")
    graph.put("main/notes/mine.md", "Mine.\n")
    copy = graph.path(bob).read_text().replace(bob, "pg_" + "0" * 25 + "1")
    graph.put("main/pages/person/by-hand.md", copy.replace("title: Bob", "title: By Hand"))
    graph.scan()
    graph.change(bob, summary="New.")
    before = texts(graph)
    done = graph.ask("rebuild_from_wal", to_seq=position)
    assert ids(done["rolled_back"]) == {bob} and done["left_out"] == []
    assert {i["why"] for i in done["kept"]} == {"a person has edited it since"}
    bobs = graph.relative(graph.path(bob))
    assert {p: b for p, b in texts(graph).items() if p != bobs} == {
        p: b for p, b in before.items() if p != bobs
    }


def test_what_a_record_that_stays_needs_stays_too(graph: Graph) -> None:
    ada = graph.page("Ada", body="Text.")
    position = graph.position
    later = graph.page("Later")
    source = graph.source("Later.\n", name="later.txt")
    claim = graph.claim(later, evidence=[{"source": source}])
    graph.page("Elsewhere", partition="other", dependencies=[claim])
    loose = graph.page("Loose")
    done = graph.ask("rebuild_from_wal", to_seq=position)
    assert ids(done["left_out"]) == {loose} and ids(done["kept"]) == {later, claim}
    assert source in graph.episode_ids() and {ada, later, claim} <= graph.listed()
    main_only = Caller("m", partitions=frozenset({"main"}))
    done = graph.ask("rebuild_from_wal", main_only, to_seq=position)
    assert ids(done["left_out"]) == {later, claim}, "what it cannot see is not told of either"


def test_an_earlier_bound_may_follow_and_one_unbounded_rebuild_undoes_both(graph: Graph) -> None:
    ada = graph.page("Ada", summary="1")
    first = graph.position
    graph.change(ada, summary="2")
    bob = graph.page("Bob")
    second = graph.position
    graph.change(ada, summary="3")
    cy = graph.page("Cy")
    latest = texts(graph)
    graph.ask("rebuild_from_wal", to_seq=second)
    assert graph.listed() == {ada, bob} and graph.get(ada)["summary"] == "2"
    graph.ask("rebuild_from_wal", to_seq=first)
    assert graph.listed() == {ada} and graph.get(ada)["summary"] == "1"
    graph.ask("rebuild_from_wal", to_seq=second)
    assert graph.listed() == {ada} and graph.get(ada)["summary"] == "1", (
        "a bound gives nothing back"
    )
    dee = graph.page("Dee")
    graph.ask("rebuild_from_wal", to_seq=graph.position - 1)
    assert graph.listed() == {ada}
    graph.ask("rebuild_from_wal")
    assert texts(graph).items() >= latest.items() and graph.listed() == {ada, bob, cy, dee}


def test_what_was_changed_since_the_bound_is_not_undone_with_it(graph: Graph) -> None:
    ada, bob = graph.page("Ada", summary="1"), graph.page("Bob", summary="1")
    position = graph.position
    graph.change(ada, summary="2")
    graph.change(bob, summary="2")
    cy = graph.page("Cy")
    graph.ask("rebuild_from_wal", to_seq=position)
    graph.change(ada, summary="3")
    graph.withdraw(bob)
    new = graph.page("Cy")
    assert new != cy and graph.path(new).name == "cy.md"
    back = graph.ask("rebuild_from_wal")
    assert (back["rolled_forward"], back["records_restored"]) == (0, 0)
    assert [(i["uuid"], i["why"]) for i in back["kept"]] == [(cy, "another file has its place")]
    assert graph.get(ada)["summary"] == "3" and graph.get(bob)["lifecycle"] == "withdrawn"


def test_only_the_group_changes(graph: Graph) -> None:
    graph.entity("Ada")
    position = graph.position
    graph.entity("Bob", group="other")
    graph.entity("Cy")
    other = {p: b for p, b in graph.files().items() if p.startswith("other/")}
    graph.ask("rebuild_from_wal", to_seq=position, group_id="main")
    assert {p: b for p, b in graph.files().items() if p.startswith("other/")} == other
    assert graph.names() == {"Ada", "Bob"}


def test_a_lost_state_forgets_neither_the_bound_nor_what_it_left_out(graph: Graph) -> None:
    ada = graph.page("Ada", summary="1")
    position = graph.position
    graph.change(ada, summary="2")
    graph.page("Bob")
    edge = graph.edge("Ada", "knows", "Bob")
    latest = texts(graph)
    graph.ask("rebuild_from_wal", to_seq=position)
    bounded = texts(graph)
    graph.ws.close()
    (graph.root / ".vault-kg/state.sqlite").unlink()
    with History(graph.root) as history:
        recover(graph.root, history)
    graph.ws = Workspace.open(graph.root, clock=graph.ws.clock)
    graph.scan()
    assert texts(graph) == bounded
    graph.ask("rebuild_from_wal", to_seq=graph.position)
    assert texts(graph) == bounded
    done = graph.ask("rebuild_from_wal")
    assert done["success"] and texts(graph) == latest and edge in graph.edge_ids()


def test_it_can_be_taken_back_between_steps(graph: Graph) -> None:
    graph.page("Ada")
    position = graph.position
    graph.page("Bob")
    gone = dataclasses.replace(ANYBODY, cancelled=lambda: True)
    refused = graph.refusal("rebuild_from_wal", gone, to_seq=position)
    assert isinstance(refused, Cancelled)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happened_the_bound_gives_the_files_of_then_and_back(
    graph: Graph, seed: int
) -> None:
    rng = random.Random(seed)
    at: dict[int, dict[str, bytes]] = {}
    pages: list[str] = []
    for number in range(14):
        what = rng.choice(("page", "change", "claim", "edge")) if len(pages) > 1 else "page"
        if what == "page":
            pages.append(graph.page(f"Page {number}", summary="0"))
        elif what == "change":
            graph.change(rng.choice(pages), summary=str(number), tags=[f"t{number}"])
        elif what == "claim":
            graph.claim(rng.choice(pages), f"Claim {number}.")
        else:
            graph.relationship(*rng.sample(pages, 2), fact=f"Fact {number}.")
        at[graph.position] = texts(graph)
    latest = texts(graph)
    bounds = rng.sample(sorted(at), 3)
    for bound in bounds:
        graph.ask("rebuild_from_wal", to_seq=bound)
    assert texts(graph) == at[min(bounds)]
    done = graph.ask("rebuild_from_wal")
    assert done["success"] and texts(graph) == latest
