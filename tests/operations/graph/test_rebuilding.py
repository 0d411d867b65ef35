"""Rebuilding a group from its journal: what is gone comes back, what stands is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument


def filled(graph: Graph) -> dict[str, str]:
    made = {name: graph.entity(name, "Person") for name in ("Ada", "Bob", "Cy")}
    made["edge"] = graph.edge("Ada", "knows", "Bob")
    graph.entity("Other", group="other")
    return made


def test_what_is_gone_comes_back_and_nothing_else_changes(graph: Graph) -> None:
    made = filled(graph)
    whole = graph.files()
    nodes, edges = graph.nodes(), graph.edges()
    graph.path(made["Bob"]).unlink()
    next((graph.root / "main/sources").glob("*/assertion.json")).unlink()
    graph.edit(made["Cy"], "title: Cy", "title: Cyrus")
    graph.scan()
    assert "Bob" not in graph.names()
    with graph.nothing_changes():
        plan = graph.ask("rebuild_from_wal", dry_run=True)
    done = graph.ask("rebuild_from_wal")
    told = ("records_restored", "files_restored", "mutations_replayed", "failed", "success")
    assert {k: done[k] for k in told} == {k: plan[k] for k in told}
    assert (done["records_restored"], done["files_restored"], done["success"]) == (1, 1, True)
    assert done["indices_built"] and graph.names() == {"Ada", "Bob", "Cyrus", "Other"}
    cy = graph.relative(graph.path(made["Cy"]))
    assert {p: b for p, b in graph.files().items() if p != cy} == {
        p: b for p, b in whole.items() if p != cy
    }
    assert graph.edges() == edges
    assert [n["uuid"] for n in graph.nodes()] == [n["uuid"] for n in nodes]
    assert graph.get(made["Bob"])["revision"] == 1, "a restored file is no new revision"
    again = graph.ask("rebuild_from_wal")
    assert (again["changed"], again["records_restored"]) == (False, 0)


def test_only_the_group_is_read_and_restored(graph: Graph) -> None:
    filled(graph)
    for path in (graph.root / "other/pages").rglob("*.md"):
        path.unlink()
    graph.scan()
    assert graph.ask("rebuild_from_wal", group_id="main")["changed"] is False
    assert graph.names(group_ids=["other"]) == set()
    done = graph.ask("rebuild_from_wal", group_id="other")
    assert (done["records_restored"], done["mutations_replayed"]) == (1, 1)
    assert graph.names(group_ids=["other"]) == {"Other"}


def test_what_was_withdrawn_or_removed_on_purpose_stays_so(graph: Graph) -> None:
    made = filled(graph)
    graph.ask("delete_episode", episode_uuid=graph.edges()[0]["episode_uuids"][0])
    graph.path(made["edge"]).unlink()
    graph.ask("delete_by_group", group_ids=["other"], confirm=True)
    graph.scan()
    for group in ("main", "other"):
        done = graph.ask("rebuild_from_wal", group_id=group)
        assert (done["success"], done["changed"]) == (True, False)
    assert graph.edges() == [] and graph.names() == {"Ada", "Bob", "Cy"}


def test_a_content_that_is_nowhere_is_a_failure(graph: Graph) -> None:
    made = filled(graph)
    path = graph.path(made["Bob"])
    blob = graph.git("rev-parse", f"HEAD:{graph.relative(path)}")
    path.unlink()
    graph.scan()
    graph.ws.history.close()
    (graph.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    done = graph.ask("rebuild_from_wal")
    assert done["success"] is False and done["records_restored"] == 0
    assert [f["path"] for f in done["failed"]] == [graph.relative(path)]


@pytest.mark.parametrize(
    "wrong",
    [{"from_seq": -1}, {"from_seq": True}, {"from_seq": "3"}, {"from_seq": 4, "to_seq": 3},
     {"to_seq": 1.5}],
)  # fmt: skip
def test_bounds_are_checked_first(graph: Graph, wrong: dict[str, Any]) -> None:
    assert isinstance(graph.refusal("rebuild_from_wal", **wrong), InvalidArgument)
