"""What whole-group operations tell and do for a caller who does not see all that the group is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.operations.caller import Caller

PUB = Caller("pub", partitions=frozenset({"pub"}))
SECRET = "Zugzwang"


@pytest.fixture
def half(graph: Graph) -> dict[str, str]:
    """A group with an edge to a page of another one, and one between two pages of its own."""
    cited = [{"source": graph.source(partition="pub")}]
    hidden = graph.page(SECRET, partition="sec")
    ada, bob = (graph.page(name, partition="pub") for name in ("Ada", "Bob"))
    ends = {"partition": "pub", "evidence": cited, "type": "friend_of"}
    owned = {"partition": "pub", "evidence": cited, "dependencies": [hidden]}
    return {
        "hidden": hidden, "ada": ada, "bob": bob,
        "edge": graph.relationship(ada, hidden, fact=f"Ada met {SECRET}.", **ends),
        "seen": graph.relationship(ada, bob, fact="Ada met Bob.", **ends),
        "claim": graph.claim(hidden, f"{SECRET} rules.", partition="pub", evidence=cited),
        "page": graph.page("Leaning", partition="pub", dependencies=[hidden]),
        "leaning": graph.claim(ada, "It leans.", **owned),
    }  # fmt: skip


def tells(answer: Any, half: dict[str, str]) -> set[str]:
    """Return what of the hidden things an answer names."""
    told = json.dumps(answer)
    return {w for w in (SECRET, *(half[k] for k in ("hidden", "edge", "claim"))) if w in told}


@pytest.mark.parametrize("name", ["canonicalize_relations", "backfill_relation_types"])
def test_types_are_given_to_the_edges_that_the_caller_sees(
    graph: Graph, half: dict[str, str], name: str
) -> None:
    before = graph.get(half["edge"])["revision"]
    done = graph.ask(name, PUB, group_id="pub", dry_run=False)
    assert tells(done, half) == set()
    assert graph.get(half["edge"])["revision"] == before
    whole = graph.ask(name, group_id="pub", dry_run=False)
    assert whole["total_edges"] == done["total_edges"] + 1


def test_the_journal_is_exported_without_what_is_hidden(graph: Graph, half: dict[str, str]) -> None:
    graph.withdraw(half["edge"])
    graph.withdraw(half["seen"])
    done = graph.ask("dump_wal", PUB, target_dir="pub")
    text = Path(done["target_dir"], "events.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    assert tells(events, half) == set()
    shown = {r["id"] for e in events for r in e["records"]}
    assert shown == {half[k] for k in ("ada", "bob", "seen", "page", "leaning")}
    assert [g["record_id"] for e in events for g in e["guards"]] == [half["seen"]]
    whole = graph.ask("dump_wal", target_dir="all")
    everything = Path(whole["target_dir"], "events.jsonl").read_text()
    assert all(half[k] in everything and SECRET in everything for k in half)


def test_a_rebuild_tells_of_what_the_caller_sees(graph: Graph, half: dict[str, str]) -> None:
    done = graph.ask("rebuild_from_wal", PUB, group_id="pub", to_seq=1, dry_run=True)
    assert tells(done, half) == set() and done["left_out_count"] == len(done["left_out"]) > 0


TWICE = """\
corrections:
- {id: x1, type: same_as, canonical: Ada, aliases: [Adda]}
- {id: x1, type: same_as, canonical: Bob, aliases: [Bobb]}
- {id: x2, type: same_as, canonical: Cy, aliases: [Cyy], group_id: sec}
- {id: x2, type: same_as, canonical: Cy, aliases: [Cyy], group_id: sec}
- {id: x3, type: nonsense}
"""


def test_corrections_that_are_refused_are_refused_for_everybody(graph: Graph) -> None:
    for name in ("Ada", "Adda", "Bob", "Bobb"):
        graph.entity(name)
    graph.put("corrections.yaml", TWICE)
    some = Caller("c", partitions=frozenset({"main"}))
    with graph.nothing_changes():
        for dry_run in (True, False):
            done = graph.ask("apply_corrections", some, dry_run=dry_run)
            assert (done["success"], done["applied"]) == (False, 0)
            assert [error["id"] for error in done["errors"]] == ["x1"]
    found = graph.ask("validate_corrections", some)
    assert (found["valid"], [i["id"] for i in found["issues"]]) == (False, ["x1"])
    everything = graph.ask("apply_corrections")
    assert {error["id"] for error in everything["errors"]} == {"x1", "x2", "x3"}


def test_an_edge_about_something_hidden_is_not_retracted(
    graph: Graph, half: dict[str, str]
) -> None:
    graph.put(
        "corrections.yaml", f"corrections:\n- {{id: r, type: retract, edge_uuid: {half['edge']}}}\n"
    )
    done = graph.ask("apply_corrections", PUB)
    assert (done["applied"], done["errors"]) == (0, [])
    assert graph.get(half["edge"])["lifecycle"] == "active"
    assert graph.ask("apply_corrections")["applied"] == 1
