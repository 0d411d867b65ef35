"""Marks: named positions that survive in Git."""

from __future__ import annotations

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.operations import care


def marks(graph: Graph, group: str = "main") -> dict[str, int | None]:
    listed = graph.ask("wal_mark_list", group_id=group)
    assert listed["count"] == len(listed["checkpoints"])
    return {m["name"]: m["seq"] for m in listed["checkpoints"]}


def test_a_mark_is_a_position_and_a_git_reference(graph: Graph) -> None:
    graph.entity("Ada")
    graph.entity("Bob", group="other")
    made = graph.ask("wal_mark_create", name="before_it")
    assert (made["success"], made["seq"]) == (True, graph.position - 1)
    assert made["generation"] == graph.ws.vault.id
    assert graph.git("rev-parse", "refs/vault-kg/marks/main/before_it") == made["commit"]
    graph.entity("Cy")
    (view,) = graph.ask("wal_mark_list")["checkpoints"]
    assert view["reachable"] and view["seq"] == made["seq"]
    assert view["wal_min_seq"] == made["seq"] and view["wal_max_seq"] == graph.position
    assert marks(graph, "other") == {}, "marks are of one group"
    assert graph.git("branch", "--list") == "* main", (
        "the person's branches and tags are left alone"
    )
    assert graph.git("tag", "--list") == ""


def test_a_name_is_taken_until_it_is_deleted(graph: Graph) -> None:
    graph.entity("Ada")
    graph.ask("wal_mark_create", name="m")
    assert isinstance(graph.refusal("wal_mark_create", name="m"), InvalidArgument)
    graph.entity("Bob", group="a b.c/".rstrip("/"))
    graph.ask("wal_mark_create", name="m", group_id="a b.c")
    graph.ask("wal_mark_delete", name="m")
    assert marks(graph) == {} and set(marks(graph, "a b.c")) == {"m"}
    assert isinstance(graph.refusal("wal_mark_delete", name="m"), NotFound)
    graph.ask("wal_mark_create", name="m")
    assert set(marks(graph)) == {"m"}


def test_marks_page_by_name(graph: Graph) -> None:
    for name in ("b", "a", "c", "aa"):
        graph.ask("wal_mark_create", name=name)
    first = graph.ask("wal_mark_list", num_results=3)
    rest = graph.ask("wal_mark_list", num_results=3, cursor=first["next_cursor"])
    assert [m["name"] for m in (*first["checkpoints"], *rest["checkpoints"])] == [
        "a", "aa", "b", "c",
    ]  # fmt: skip
    assert (first["count"], first["total"], rest["next_cursor"]) == (3, 4, None)
    assert graph.ask("wal_mark_list", name_prefix="a")["total"] == 2


@pytest.mark.parametrize("name", ["", "a b", "../x", "ü", "x" * 201, "a/b"])
def test_a_name_is_plain(graph: Graph, name: str) -> None:
    assert isinstance(graph.refusal("wal_mark_create", name=name), InvalidArgument)


def test_a_mark_of_an_empty_group_is_at_no_position(graph: Graph) -> None:
    made = graph.ask("wal_mark_create", name="m", group_id="empty")
    assert (made["seq"], made["commit"]) == (None, None)
    (view,) = graph.ask("wal_mark_list", group_id="empty")["checkpoints"]
    assert view["reachable"]


def test_a_mark_survives_the_loss_of_the_state(graph: Graph) -> None:
    graph.entity("Ada")
    graph.ask("wal_mark_create", name="m")
    before = marks(graph)
    graph.ws.close()
    for path in (graph.root / ".vault-kg").glob("state.sqlite*"):
        path.unlink()
    care.recover(graph.root)
    graph.reopen()
    assert marks(graph) == before
    graph.ask("wal_mark_delete", name="m")
    assert marks(graph) == {}


def test_a_mark_that_was_made_while_git_could_not_be_used_gets_its_reference(graph: Graph) -> None:
    graph.entity("Ada")
    graph.git("checkout", "-q", "--detach")
    graph.entity("Bob")
    made = graph.ask("wal_mark_create", name="m")
    assert (made["seq"], made["commit"]) == (2, None)
    assert graph.ask("wal_mark_list")["checkpoints"][0]["commit"] is None
    graph.git("checkout", "-q", "main")
    graph.entity("Cy")
    (view,) = graph.ask("wal_mark_list")["checkpoints"]
    assert view["commit"] == graph.git("rev-parse", "HEAD~1")
    assert graph.git("rev-parse", "refs/vault-kg/marks/main/m") == view["commit"]
    graph.ws.close()
    for path in (graph.root / ".vault-kg").glob("state.sqlite*"):
        path.unlink()
    care.recover(graph.root)
    graph.reopen()
    assert marks(graph) == {"m": 2}


def test_a_mark_that_was_deleted_before_git_had_it_gets_no_reference(graph: Graph) -> None:
    graph.entity("Ada")
    graph.git("checkout", "-q", "--detach")
    graph.entity("Bob")
    graph.ask("wal_mark_create", name="m")
    graph.ask("wal_mark_delete", name="m")
    graph.git("checkout", "-q", "main")
    graph.entity("Cy")
    assert marks(graph) == {} and graph.git("for-each-ref", "refs/vault-kg") == ""


def test_a_mark_at_an_entry_without_files_is_at_the_commit_before(graph: Graph) -> None:
    graph.entity("Ada")
    head = graph.git("rev-parse", "HEAD")
    graph.entity("Ada", requestId="again")
    assert graph.git("rev-parse", "HEAD") == head and graph.position == 2
    made = graph.ask("wal_mark_create", name="m")
    assert (made["seq"], made["commit"]) == (2, head)
