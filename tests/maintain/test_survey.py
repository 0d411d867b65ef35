"""The DEBT line from a real graph: each factor counted, and its nodes named on request."""

from __future__ import annotations

import pytest

from tests.maintain.conftest import Garden, Talk
from tests.operations.builder import Clock
from vault_kg.index import counters, nodes
from vault_kg.maintain import touches
from vault_kg.state import tiers


def targets(talk: Talk, factor: str, level: str = "user") -> list[tuple[str, str]]:
    found = next(one for one in talk.read(factor=factor)["levels"] if one["level"] == level)
    assert found["targets_total"] == len(found["targets"])
    return [(one["id"], one["what"]) for one in found["targets"]]


def test_oversized_gists_the_longest_first(talk: Talk) -> None:
    talk.put("a", "x" * 301)
    talk.put("b", "x" * 400)
    talk.put("c", "x" * 300)
    assert "2 oversized gist(s)" in talk.debt()
    assert [id for id, _ in targets(talk, "oversized")] == ["b", "a"]


def test_long_and_dated_ids(talk: Talk) -> None:
    talk.put("one-two-three-four-five")
    talk.put("one-two-three-four-five-six")
    talk.put("review-2026-01-05")
    assert "2 long id(s)" in talk.debt()
    assert targets(talk, "long_ids") == [
        ("one-two-three-four-five-six", "6 words"), ("review-2026-01-05", "dated"),
    ]  # fmt: skip


def test_an_episode_whose_lesson_stands_has_the_id_that_it_should(talk: Talk) -> None:
    lesson = talk.put("check-auth-early", "Check it first.")
    episodes = [talk.put(f"auth-review-2026-0{n}-05", "Reviewed.") for n in (1, 2)]
    talk.join(lesson, episodes[1], "instance-of")
    assert "2 long id(s)" in talk.debt()
    talk.join(episodes[0], lesson, "instance-of")
    assert "1 long id(s)" in talk.debt()
    assert targets(talk, "long_ids") == [(episodes[1], "dated")]
    talk.call("kg_delete_edge", **{"from": episodes[0], "to": lesson}, rel="instance-of")
    assert "2 long id(s)" in talk.debt()


def test_unconnected_nodes(talk: Talk) -> None:
    for id in "abc":
        talk.put(id)
    talk.join("a", "b")
    assert "1 unconnected" in talk.debt()
    assert targets(talk, "unconnected") == [("c", "in no edge")]
    talk.call("kg_delete_edge", **{"from": "a", "to": "b"}, rel="relates-to")
    assert "3 unconnected" in talk.debt()


def test_touches_that_lead_nowhere(garden: Garden, talk: Talk, clock: Clock) -> None:
    root = garden.folder / "alpha"
    (root / "here.py").touch()
    talk.put(
        "a", level="project",
        touches=["here.py", "here.py:12", "gone.py", "https://x.y/z", "src/*.py", "the parser",
                 str(root / "here.py"), "/nowhere/at/all.txt"],
    )  # fmt: skip
    assert "2 dangling touch(es)" in talk.debt("project")
    assert targets(talk, "dangling", "project") == [("a", "/nowhere/at/all.txt"), ("a", "gone.py")]
    (root / "gone.py").touch()
    clock.go_to("2026-03-01T13:00:00+00:00")
    assert "1 dangling touch(es)" in talk.debt("project")


def test_clusters_with_a_lesson(garden: Garden, talk: Talk) -> None:
    ids = [talk.put(f"review-week-{n}") for n in range(3)]
    records = [talk.node(id)["record"] for id in ids]
    tiers.put_lifts(garden.box.ws.database, "user", [records])
    assert "1 lift cluster(s)" in talk.debt()
    assert [id for id, _ in targets(talk, "lift")] == ids


def test_smeared_terms_with_their_hub(talk: Talk) -> None:
    talk.put("websocket-gateway", "Terminates connections.")
    satellites = [talk.put(f"s{n}", f"Speaks websocket, variant {n}.") for n in range(6)]
    assert talk.debt().endswith("— smeared: websocket×7→websocket-gateway")
    assert {id for id, _ in targets(talk, "smeared")} == set(satellites)
    talk.put("s0", "Speaks another protocol.")
    talk.put("s1", "Speaks another protocol.")
    assert "smeared" not in talk.debt()


def test_a_term_of_the_project_or_of_a_dated_id_is_not_smeared(garden: Garden) -> None:
    talk = garden.talk("gateway")
    for n in range(7):
        talk.put(f"gateway-{n}", "Of the gateway.", level="project")
        talk.put(f"u{n}", "In the retrospective.")
    talk.put("retrospective-2026-01", "Dated.")
    assert "smeared" not in talk.debt() and "smeared" not in talk.debt("project")


def test_days_in_use(garden: Garden, talk: Talk, clock: Clock) -> None:
    for day in (2, 3, 5):
        clock.go_to(f"2026-03-0{day}T23:59:00+00:00")
        garden.talk().read()
    assert "active 4/7d" in garden.talk(maintenance=True).debt()
    clock.go_to("2026-03-11T12:00:00+00:00")
    assert "active 1/7d" in garden.talk(maintenance=True).debt()


def test_counters_follow_files_that_a_person_changes(garden: Garden, talk: Talk) -> None:
    for id in "abc":
        talk.put(id)
    talk.join("a", "b")
    box, record = garden.box, talk.node("a")["record"]
    box.edit(record, "summary: Something.", f"summary: {'x' * 400}")
    box.scan()
    assert "1 oversized gist(s)" in talk.debt()
    box.path(record).unlink()
    box.scan()
    assert "2 unconnected" in talk.debt() and "oversized" not in talk.debt()
    assert "HEALTH: 2 nodes, 0 edges, 2 orphans (100%)" in talk.read()["text"]


def test_counters_follow_merges(garden: Garden, talk: Talk) -> None:
    for id in "abc":
        talk.put(id)
    talk.join("a", "c")
    records = {id: talk.node(id)["record"] for id in "ab"}
    garden.box.merge(records["b"], records["a"])
    assert "HEALTH: 2 nodes, 1 edges, 0 orphans" in talk.read()["text"]
    assert talk.node("b")["edges"][0]["to"] == "c"


def test_settled_counters_are_those_of_a_new_index(garden: Garden, talk: Talk) -> None:
    ids = [talk.put(f"node-{n}", f"Gist about topic{n % 3}.") for n in range(12)]
    for first, second in zip(ids, ids[1:], strict=False):
        talk.join(first, second)
    talk.read("node-3", "node-7")
    talk.call("kg_delete_node", id="node-3")
    talk.call("kg_rename_node", old_id="node-7", new_id="renamed")
    db = garden.box.ws.database
    tables = ("counted_page", "counted_edge", "counted_term", "counted_name")
    before = {table: sorted(db.rows(f"SELECT * FROM {table}")) for table in tables}
    db.execute("INSERT OR IGNORE INTO recount SELECT id FROM record")
    counters.settle(db, garden.box.ws.now())
    after = {table: sorted(db.rows(f"SELECT * FROM {table}")) for table in tables}
    assert before == after and len(before["counted_page"]) == 11


def test_what_expires_is_taken_out_of_the_counters(
    garden: Garden, talk: Talk, clock: Clock
) -> None:
    first, second = (talk.put(id) for id in "ab")
    ends = [talk.node(id)["record"] for id in (first, second)]
    garden.box.relationship(*ends, "relates_to", partition="user", valid_until="2026-03-02")
    assert "1 edges" in talk.read()["text"]
    clock.go_to("2026-03-04T12:00:00+00:00")
    assert "0 edges" in garden.talk().read()["text"]


@pytest.mark.parametrize(
    ("touch", "dangles"),
    [("a.py", True), ("~/no/such", True), ("~nobody-here/x", True), ("README", False),
     ("two words.py", False), ("", False), ("x://y.z", False), ("a\0b.py", False)],
)  # fmt: skip
def test_only_paths_dangle(touch: str, dangles: bool, tmp_path: object) -> None:
    assert touches.is_dangling(touch, str(tmp_path)) is dangles


def test_status_lists_every_graph_the_highest_debt_first(garden: Garden, talk: Talk) -> None:
    talk.put("a", "x" * 400)
    talk.put("b", level="project")
    garden.box.page("Elsewhere")
    found = garden.box.call("maintain_status", targets=True)
    scores = [graph["score"] for graph in found["graphs"]]
    assert scores == sorted(scores, reverse=True)
    assert {graph["partition"] for graph in found["graphs"]} == {"user", "project-alpha", "main"}
    user = next(graph for graph in found["graphs"] if graph["partition"] == "user")
    assert {f["factor"]: f["total"] for f in user["factors"]} == {"oversized": 1, "unconnected": 1}
    assert nodes.partitions(garden.box.ws.database) == ["main", "project-alpha", "user"]
