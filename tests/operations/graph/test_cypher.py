"""Cypher: what it answers is what lists answer, it only reads, and nothing of it is ever in the way."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY
from tests.operations.graph.graphs import Graph
from vault_kg.errors import Cancelled, InvalidArgument, ScopeDenied, Unavailable
from vault_kg.index.cypher import projection
from vault_kg.index.cypher.process import Workers
from vault_kg.index.cypher.projection import FOLDER, Projection
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import projecting
from vault_kg.operations.workspace import Workspace

SOME = Caller("c", partitions=frozenset({"main"}))
NAMES = "MATCH (n:Entity) RETURN n.name AS name ORDER BY name"


def query(graph: Graph, text: str, caller: Caller = ANYBODY, **more: Any) -> list[list[Any]]:
    return list(graph.ask("query_cypher", caller, query=text, **more)["rows"])


def names(graph: Graph, caller: Caller = ANYBODY) -> list[str]:
    return [name for (name,) in query(graph, NAMES, caller)]


def files(graph: Graph) -> list[Path]:
    return sorted((graph.ws.database.path.parent / FOLDER).rglob("*.lbug"))


@pytest.fixture
def family(graph: Graph) -> Graph:
    graph.entity("Ada", "Person", summary="An analyst.", attributes={"born": "1815-12-10"})
    graph.entity("Bob", "Person")
    graph.edge("Ada", "knows", "Bob", fact="Ada knows Bob.", relation_type="knows")
    return graph


def test_it_needs_its_own_scope(graph: Graph) -> None:
    others = Caller("a", scopes=frozenset({"read", "write", "admin", "review"}))
    refused = graph.refusal("query_cypher", others, query=NAMES)
    assert isinstance(refused, ScopeDenied) and refused.data["scope"] == "cypher"


def test_without_the_extra_it_says_what_to_install(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ladybug", None)
    refused = graph.refusal("query_cypher", query=NAMES)
    assert isinstance(refused, Unavailable) and refused.data["missing"] == "cypher"
    assert "vault-kg[cypher]" in refused.message


def test_columns_have_names_and_values_their_types(family: Graph) -> None:
    found = family.ask(
        "query_cypher",
        query="MATCH (a:Entity {name: $name})-[r:RELATES_TO]->(b:Entity) "
        "RETURN b.name AS friend, size(a.name) AS letters, r, a.labels AS labels, 0.1 AS tenth, "
        "null AS nothing, date('2024-01-05') AS day, true AS yes",
        parameters={"name": "Ada"},
    )
    (row,) = found["rows"]
    said = dict(zip(found["columns"], row, strict=True))
    edge = said.pop("r")
    assert said == {
        "friend": "Bob", "letters": 3, "labels": ["Entity", "Person"], "tenth": 0.1,
        "nothing": None, "day": "2024-01-05", "yes": True,
    }  # fmt: skip
    assert (edge["_label"], edge["fact"], edge["relation_type"]) == (
        "RELATES_TO", "Ada knows Bob.", "knows",
    )  # fmt: skip
    assert found["types"][:3] == ["STRING", "INT64", "REL"]
    assert (found["count"], found["truncated"], found["position"]) == (1, False, family.position)


def test_what_changed_is_in_the_next_answer(family: Graph) -> None:
    assert names(family) == ["Ada", "Bob"]
    cy = family.entity("Cy")
    assert names(family) == ["Ada", "Bob", "Cy"]
    family.ask("assert_entity", name="Cecil", entity_uuid=cy)
    assert names(family) == ["Ada", "Bob", "Cecil"]
    family.withdraw(family.node(cy)["uuid"])
    assert names(family) == ["Ada", "Bob"]
    family.ask("merge_entities", canonical_name="Ada", alias_names=["Bob"])
    assert names(family) == ["Ada"]
    assert query(family, "MATCH ()-[r:RELATES_TO]->() RETURN count(*)") == [[0]], "a self-loop"


def test_time_alone_changes_an_answer(family: Graph) -> None:
    family.relationship(
        *(n["uuid"] for n in family.nodes()), fact="For a while.", validUntil="2027-01-01"
    )
    asked = "MATCH ()-[r:RELATES_TO]->() RETURN count(*)"
    assert query(family, asked) == [[2]]
    position = family.position
    family.clock.go_to("2027-06-01T00:00:00Z")  # type: ignore[attr-defined]
    assert query(family, asked) == [[1]] and family.position == position


def test_a_vocabulary_changes_labels(graph: Graph) -> None:
    graph.entity("Golem", "Robot")
    asked = "MATCH (n:Entity) RETURN n.labels"
    assert query(graph, asked) == [[["Entity", "Robot"]]]
    graph.put("ontology.yaml", "page_types:\n  Robot: {parent: Person}\n")
    assert query(graph, asked) == [[["Entity", "Person", "Robot"]]]


def test_the_limit_is_told(family: Graph) -> None:
    found = family.ask("query_cypher", query="UNWIND range(1, 10) AS n RETURN n", limit=3)
    assert (found["rows"], found["truncated"]) == ([[1], [2], [3]], True)
    found = family.ask("query_cypher", query="UNWIND range(1, 3) AS n RETURN n", limit=3)
    assert found["truncated"] is False


def test_parameters_are_values_and_never_code(family: Graph) -> None:
    asked = "MATCH (n:Entity) WHERE n.name = $name RETURN n.uuid"
    for text in ("Ada' OR true //", "'", '"', "\\", "$name", "`", "é\n\t"):
        assert query(family, asked, parameters={"name": text}) == []
        assert query(family, "RETURN $v AS v", parameters={"v": text}) == [[text]]
    for value in (True, 7, -(2**63), 0.25, "1", "2024-01-05", [1, 2], ["a"], {"a": 1}):
        assert query(family, "RETURN $v AS v", parameters={"v": value}) == [[value]]
    inside = "MATCH (n:Entity) WHERE n.name IN $names RETURN count(*)"
    assert query(family, inside, parameters={"names": []}) == [[0]]
    assert query(family, inside, parameters={"names": ["Ada", "Zoe"]}) == [[1]]
    for given in ({}, {"name": "Ada", "more": 1}, {"Name": "Ada"}):
        assert isinstance(
            family.refusal("query_cypher", query=asked, parameters=given), InvalidArgument
        )
    odd = family.refusal("query_cypher", query="RETURN $v AS v", parameters={"v": [1, "a"]})
    assert isinstance(odd, InvalidArgument)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (:Entity {uuid: 'x'})", "MATCH (n) SET n.name = 'x'", "MATCH (n) DETACH DELETE n",
        "MERGE (n:Entity {uuid: 'x'})", "MATCH (n) REMOVE n.name", "DROP TABLE Entity",
        "ALTER TABLE Entity ADD x STRING", "COPY (MATCH (n) RETURN n.uuid) TO 'FILE'",
        "EXPORT DATABASE 'FILE'", "IMPORT DATABASE 'FILE'", "LOAD FROM 'FILE' RETURN *",
        "MATCH (n) LOAD FROM 'FILE' RETURN *", "RETURN 1 UNION LOAD FROM 'FILE' RETURN *",
        "INSTALL json", "ATTACH 'FILE' AS x (dbtype sqlite)", "USE x", "BEGIN TRANSACTION",
        "CHECKPOINT", "CALL threads=1", "CALL show_functions() RETURN *", "CALL current_setting('x')",
        "CALL read_csv_serial('FILE') RETURN *", "RETURN 1; COPY (RETURN 1) TO 'FILE'",
        "EXPLAIN MATCH (n) RETURN n", "PROFILE MATCH (n) RETURN n", "CREATE MACRO f(x) AS x",
        "/* ' */ COPY (RETURN 1) TO 'FILE' /* ' */", "// x\nEXPORT DATABASE 'FILE'",
        "RETURN 'open", "", " ", "// nothing", ";", "RETURN 1;;",
        "MATCH (n) WHERE n.x = 1. LOAD FROM 'FILE' RETURN *",
    ],
)  # fmt: skip
def test_only_reading_is_let_through(graph: Graph, folder: Path, text: str) -> None:
    reached = folder / "reached"
    refused = graph.refusal("query_cypher", query=text.replace("FILE", os.fspath(reached)))
    assert (isinstance(refused, InvalidArgument) and refused.data.get("field")) or text == ""
    assert not reached.exists() and not files(graph), "the engine was not even asked"


def test_a_refusal_says_which_operations_write(graph: Graph) -> None:
    refused = graph.refusal("query_cypher", query="MATCH (n:Entity) SET n.name = 'x' RETURN n")
    assert "SET at character 18" in refused.message
    assert "knowledge_assert_entity" in refused.message and "knowledge_withdraw" in refused.message


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("RETURN 'CREATE; it''s'", None), ("RETURN 'DELETE; LOAD FROM' AS x", ["DELETE; LOAD FROM"]),
        ("RETURN 1 AS `set`;", [1]), ("RETURN 1 /* CREATE ' */ AS x // SET '", [1]),
        ("RETURN {set: 1}.set AS x", None), ("WITH {`set`: 1} AS m RETURN m.set AS x", [1]),
        ("return \"a'b\" as x", ["a'b"]), ("RETURN 'a\\'; SET ' AS x", ["a'; SET "]),
    ],
)  # fmt: skip
def test_words_in_texts_and_names_do_nothing(
    graph: Graph, text: str, row: list[Any] | None
) -> None:
    if row is None:
        assert isinstance(graph.refusal("query_cypher", query=text), InvalidArgument)
    else:
        assert query(graph, text) == [row]


def test_the_engines_own_refusals_are_told(graph: Graph) -> None:
    for text in ("MATCH (n:Nope) RETURN n", "MATCH (n RETURN", "RETURN 1/0", "RETURN 1 /* x"):
        refused = graph.refusal("query_cypher", query=text)
        assert isinstance(refused, InvalidArgument) and "exception" in refused.message
    assert query(graph, "RETURN 1 AS x") == [[1]]


SLOW = (
    "UNWIND range(1, 5000) AS a UNWIND range(1, 5000) AS b UNWIND range(1, 5000) AS c "
    "RETURN sum(a * b - c) AS s"
)


def test_a_query_that_takes_too_long_is_ended(graph: Graph) -> None:
    refused = graph.refusal("query_cypher", query=SLOW, timeout_seconds=0.3)
    assert isinstance(refused, InvalidArgument) and refused.data["reason"] == "timeout"
    assert query(graph, "RETURN 1 AS x") == [[1]]


def test_a_query_can_be_taken_back(graph: Graph) -> None:
    names(graph)
    gone = threading.Event()
    threading.Timer(0.4, gone.set).start()
    caller = dataclasses.replace(ANYBODY, cancelled=gone.is_set)
    assert isinstance(graph.refusal("query_cypher", caller, query=SLOW), Cancelled)
    assert query(graph, "RETURN 1 AS x") == [[1]]


def test_it_waits_for_no_writer(family: Graph) -> None:
    with family.ws.lane.hold():
        answered: list[list[str]] = []
        asking = threading.Thread(target=lambda: answered.append(names(family)))
        asking.start()
        asking.join(20)
    assert answered == [["Ada", "Bob"]]


def test_many_ask_at_once(family: Graph) -> None:
    other = Workspace.open(family.root, clock=family.clock)
    try:
        answered: list[Any] = []

        def ask(ws: Workspace) -> None:
            from vault_kg.operations import registry

            told = registry.call(ws, "knowledge_query_cypher", {"query": NAMES}, ANYBODY)
            answered.append(told["rows"])

        asking = [
            threading.Thread(target=ask, args=(ws,)) for ws in (family.ws, other, family.ws, other)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(60)
        assert answered == [[["Ada"], ["Bob"]]] * 4
    finally:
        other.close()


def test_nothing_of_a_hidden_group_can_be_reached(family: Graph) -> None:
    hidden = family.entity("Zugzwang", "Person", group="secret", summary="Zugzwang.")
    family.edge("Zugzwang", "knows", "Zugzwang", group="secret", fact="Zugzwang.")
    ada = next(n["uuid"] for n in family.nodes() if n["name"] == "Ada")
    to_hidden = family.pointer(ada, "secret", "Zugzwang")["uuid"]
    family.claim(hidden, "Zugzwang claims.")
    family.claim(hidden, "Owned out of sight.", partition="main")
    everything = [
        "MATCH (n) RETURN n",
        "MATCH ()-[r]->() RETURN r",
        "MATCH p = ()-[*1..3]->() RETURN p",
    ]
    assert any("Zugzwang" in json.dumps(query(family, q)) for q in everything)
    before = set(files(family))
    told = [json.dumps(query(family, q, SOME)) for q in everything]
    secrets = {"Zugzwang", hidden, to_hidden, *family.episode_ids(group_ids=["secret"])}
    assert not [secret for secret in secrets for text in told if secret in text]
    (mine,) = set(files(family)) - before
    content = mine.read_bytes()
    assert not [secret for secret in secrets if secret.encode() in content], "not even on disk"
    nobody = Caller("n", partitions=frozenset())
    assert query(family, "MATCH (n) RETURN count(*)", nobody) == [[0]]


def test_the_names_of_groups_cannot_be_mixed_up(graph: Graph) -> None:
    sets: list[frozenset[str] | None] = [
        None, frozenset(), frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"}),
        frozenset({"all"}), frozenset({'a", "b'}), frozenset({"a,b"}),
    ]  # fmt: skip
    state = graph.ws.database.path.parent
    assert len({projection.folder_of(state, each) for each in sets}) == len(sets)


@pytest.mark.parametrize("harm", ["truncated", "garbage", "gone", "note", "folder", "engine"])
def test_a_damaged_graph_is_made_anew(
    family: Graph, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names(family) == ["Ada", "Bob"]
    family.ws.graphs.close()
    (path,) = files(family)
    if harm in ("truncated", "garbage"):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if harm == "truncated" else b"x" * len(whole))
    elif harm == "gone":
        path.unlink()
    elif harm == "note":
        path.with_name("current.json").write_text('{"file": 1}')
        path.unlink()
    elif harm == "folder":
        for each in path.parent.iterdir():
            each.unlink()
        path.parent.rmdir()
    else:
        monkeypatch.setattr(projection.metadata, "version", lambda _: "0.0.1")
        family.entity("Cy")
        assert names(family) == ["Ada", "Bob", "Cy"]
        return
    assert names(family) == ["Ada", "Bob"]


def test_a_worker_that_dies_is_replaced(family: Graph) -> None:
    assert names(family) == ["Ada", "Bob"]
    (process,) = family.ws.graphs._workers._idle
    os.kill(process.pid, signal.SIGSEGV)
    assert names(family) == ["Ada", "Bob"]


def test_a_change_that_the_engine_dies_of_is_made_anew(
    family: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine has ended its process at statements that change a graph; that costs a rebuild."""
    for number in range(20):
        family.entity(f"E{number}")
    names(family)
    asked: list[bool] = []
    ask = Workers.ask

    def dying(self: Workers, request: Any, *more: Any) -> dict[str, Any]:
        if request["do"] == "build":
            asked.append(request["fresh"])
            if not request["fresh"]:
                os.kill(self._idle[0].pid, signal.SIGKILL)
        return ask(self, request, *more)

    monkeypatch.setattr(Workers, "ask", dying)
    family.entity("Cy")
    assert "Cy" in names(family)
    assert asked == [False, True]


def test_old_files_are_removed(family: Graph) -> None:
    for number in range(12):
        family.entity(f"E{number}")
        names(family)
    assert len(files(family)) == 2, "the one that is asked and the one before"


def test_a_graph_that_nobody_asks_any_more_is_removed(family: Graph) -> None:
    names(family)
    names(family, Caller("n", partitions=frozenset({"other"})))
    (note,) = {path.with_name("current.json") for path in files(family)[:1]}
    os.utime(note, (0, 0))
    names(family, SOME)
    assert not note.exists() and len({path.parent for path in files(family)}) == 2
    assert names(family) == ["Ada", "Bob"]


def test_a_changed_graph_holds_what_one_made_anew_holds(family: Graph, folder: Path) -> None:
    uuids = [family.entity(f"E{n}", summary="x" * n) for n in range(30)]
    for n in range(20):
        family.edge(f"E{n}", "precedes", f"E{n + 1}", fact=f"{n} is before.")
    names(family)
    for n in range(8):
        family.ask("assert_entity", name=f"E{n}", entity_uuid=uuids[n], summary=None)
        family.edge(f"E{n}", "precedes", f"E{n + 1}", fact=f"{n} comes sooner.")
        family.ask("merge_entities", canonical_uuid=uuids[20 + n], alias_uuids=[uuids[9 + n]])
        names(family)
    everything = (
        "MATCH (n) RETURN n.uuid AS id, n AS value UNION MATCH ()-[r]->() RETURN r.uuid AS id, null",
        "MATCH (a)-[r]->(b) RETURN a.uuid, r, b.uuid ORDER BY r.uuid",
        "MATCH (n) RETURN n ORDER BY n.uuid",
    )
    changed = [sorted(map(json.dumps, query(family, q, limit=10_000))) for q in everything[1:]]
    rows = projecting.rows(family.ws, ANYBODY)
    workers = Workers()
    path = Projection(folder / "anew", workers).refresh(rows)
    anew = [
        workers.ask(
            {"do": "query", "path": os.fspath(path), "query": q, "parameters": {}, "limit": 10_000,
             "seconds": 20},
            30,
        )["rows"]
        for q in everything[1:]
    ]  # fmt: skip
    workers.close()
    assert changed == [sorted(map(json.dumps, rows)) for rows in anew]
