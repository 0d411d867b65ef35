"""kg_read: sessions, levels, tiers; and that reading is never a change of the vault."""

from __future__ import annotations

import threading
import time

import pytest

from tests.maintain.conftest import Garden, Talk
from tests.operations.builder import Clock
from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.maintain import levels, render
from vault_kg.maintain.layout import LEVEL_BUDGET
from vault_kg.operations.workspace import Workspace
from vault_kg.state import tiers, usage

LONG = "word " * 55


def tier(garden: Garden, id: str, level: str = "user") -> str:
    found = garden.talk(maintenance=True).node(id, level=level)
    return str(found["tier"])


def tiers_of(garden: Garden) -> dict[str, str]:
    gardener = garden.talk(maintenance=True)
    halves = [[f"crowd-{n}" for n in some] for some in (range(35), range(35, 70))]
    return {node["id"]: node["tier"] for half in halves for node in gardener.read(*half)["nodes"]}


def crowd(talk: Talk, count: int = 70) -> list[str]:
    """Fill a level beyond its budget."""
    return [talk.put(f"crowd-{n}", f"{LONG}{n}") for n in range(count)]


def test_the_first_call_gives_a_session_for_a_folder(garden: Garden) -> None:
    answer = garden.box.call("kg_read", cwd=garden.project("alpha"))
    assert answer["text"].startswith(f"session_id: {answer['session_id']}\n")
    assert [one["partition"] for one in answer["levels"]] == ["user", "project-alpha"]
    inside = garden.folder / "alpha" / "src" / "deep"
    again = garden.box.call("kg_read", cwd=str(inside))
    assert again["levels"][1]["partition"] == "project-alpha"


def test_health_and_debt_stand_in_every_answer_but_of_the_memory(
    garden: Garden, talk: Talk
) -> None:
    talk.put("one", "x" * 301)
    talk.put("two", level="maintain")
    whole, some = talk.read(), talk.read("one")
    for level in whole["levels"]:
        lines = f"{level['health_line']}\n{level['debt_line']}\n"
        assert lines.startswith("HEALTH: ") and "\nDEBT: " in lines
        assert lines in whole["text"] and lines in some["text"]
    assert "1 oversized gist(s)" in some["text"]
    assert [one["partition"] for one in some["levels"]] == ["user", "project-alpha"]
    only = talk.read("one", level="user")
    assert [one["level"] for one in only["levels"]] == ["user"] and only["text"].count("DEBT") == 1
    memory = talk.read("two", level="maintain")
    assert memory["levels"] == [] and "DEBT" not in memory["text"]


def test_two_projects_of_one_name_are_two(garden: Garden) -> None:
    first = garden.box.call("kg_read", cwd=garden.project("one/same"))
    second = garden.box.call("kg_read", cwd=garden.project("two/same"))
    partitions = {answer["levels"][1]["partition"] for answer in (first, second)}
    assert len(partitions) == 2 and "project-same" in partitions


@pytest.mark.parametrize("arguments", [{}, {"session_id": "00000000"}, {"cwd": "not/absolute"}])
def test_without_a_known_session_a_folder_is_needed(
    garden: Garden, arguments: dict[str, str]
) -> None:
    with pytest.raises(InvalidArgument, match="cwd"):
        garden.box.call("kg_read", **arguments)


def test_a_lost_session_goes_on_without_a_project_until_it_names_one(
    garden: Garden, clock: Clock
) -> None:
    lost = Talk(garden.box, "0badcafe")
    lost.put("a")
    assert "no project" in lost.refused("kg_put_node", id="b", gist="x", level="project").message
    lost.read(cwd=garden.project())
    lost.put("b", level="project")
    lost.read()
    clock.go_to("2026-03-03T12:00:00+00:00")
    garden.talk()
    assert "not known" in lost.refused("kg_read").message


def test_another_folder_is_ignored_and_said(garden: Garden, talk: Talk) -> None:
    answer = talk.read(cwd=garden.project("beta"))
    assert "NOTICE: this session is of project-alpha" in answer["text"]
    assert answer["levels"][1]["partition"] == "project-alpha"


def test_reading_changes_no_file_and_makes_no_commit(garden: Garden, talk: Talk) -> None:
    crowd(talk)
    head = garden.box.git("rev-parse", "HEAD")
    with garden.box.nothing_changes():
        talk.read()
        talk.read("crowd-1", "crowd-2")
        talk.call("kg_search", query="word")
        talk.call("kg_useful", ids=["crowd-1"])
        talk.call("kg_progress", task_id="x", state={"a": 1})
        talk.call("kg_sync")
    garden.box.scan()
    assert garden.box.git("rev-parse", "HEAD") == head


def test_nodes_come_in_full_and_what_is_missing_is_said(talk: Talk) -> None:
    talk.put("a", "Gist.", notes=["One.\nmore"], touches=["src/a.py"])
    talk.put("b")
    talk.join("a", "b", "part-of", notes=["why"])
    answer = talk.read("a", "nope", "b")
    assert answer["text"].splitlines()[1:9] == [
        "a [user, active, revision 1]", "  gist: Gist.", "  notes:", "    - One.", "      more",
        "  touches: src/a.py", "  → part-of → b  (why)", "",
    ]  # fmt: skip
    assert "  ← part-of ← a  (why)" in answer["text"]
    assert answer["missing"] == ["nope"] and "Error: there is no node 'nope'" in answer["text"]
    assert isinstance(talk.refused("kg_read", id="nope"), NotFound)


def test_an_answer_has_its_budget_and_says_what_it_left_out(talk: Talk) -> None:
    ids = [talk.put(f"big-{n}", notes=["x" * 9_000]) for n in range(6)]
    answer = talk.read(*ids)
    assert len(answer["text"]) <= 40_000
    assert answer["left_out"] == ids[4:] and "read them next" in answer["text"]
    talk.put("huge", notes=["x" * 100_000])
    other = talk.read("huge")
    assert len(other["text"]) <= 40_000 and "NOTE: cut to fit" in other["text"]


def test_everything_at_once_keeps_within_the_budget(garden: Garden, talk: Talk) -> None:
    crowd(talk, 60)
    for n in range(60):
        talk.put(f"project-crowd-{n}", f"{LONG}{n}", level="project")
    answer = talk.read(factor="unconnected")
    assert 30_000 < len(answer["text"]) <= 40_000
    assert answer["text"].count("unconnected (") == 2
    many = talk.read(*(f"missing-{'x' * 200}-{n}" for n in range(99)), "crowd-1")
    assert len(many["text"]) <= 40_000 and len(many["missing"]) == 99
    assert "94 more ids mean no node" in many["text"]


def test_what_was_cut_does_not_count_as_read(garden: Garden, talk: Talk) -> None:
    talk.put("huge", notes=["x" * 100_000])
    other = garden.talk()
    other.read("huge")
    assert other.refused("kg_put_node", id="huge", gist="x", level="user", notes=["y"])


# Tiers


def test_a_level_keeps_within_its_budget_and_nothing_is_deleted(
    garden: Garden, talk: Talk, clock: Clock
) -> None:
    ids = crowd(talk)
    answer = talk.read()
    level = answer["levels"][0]
    text = answer["text"].split("USER GRAPH (user)\n")[1].split("HEALTH")[0]
    assert len(text) <= LEVEL_BUDGET and not level["left_out"]
    assert 0 < level["active"] < 70 and level["nodes"] == 70
    assert "ARCHIVED" in text
    assert len({node["id"] for node in talk.read(*ids[:40])["nodes"]}) == 40


def test_the_charge_is_the_text(garden: Garden, talk: Talk) -> None:
    crowd(talk, 20)
    talk.put("p", level="project")
    talk.join("p", "crowd-1", level="project")
    talk.join("crowd-1", "crowd-2")
    ws = garden.box.ws
    from vault_kg.index import nodes
    from vault_kg.maintain import tending

    for partition in ("user", "project-alpha"):
        picture = tending.picture(ws, partition, lambda _: True)
        every = [
            node
            for tier in (tiers.ACTIVE, tiers.ARCHIVED)
            for node in nodes.in_tier(ws.database, partition, tier)
        ]
        ends = nodes.of_ids(ws.database, [e for edge in picture.edges for e in edge[2:4]])
        layout = render.layout(
            every, picture.edges, {one: node.name for one, node in ends.items()},
            {one: node.tier for one, node in ends.items()},
        )  # fmt: skip
        assert layout.size == len(render.text(picture).text)


def test_an_archived_node_comes_back_by_use(garden: Garden, talk: Talk, clock: Clock) -> None:
    crowd(talk)
    talk.read()
    old = "crowd-0"
    assert tier(garden, old) != "active"
    talk.read(old)
    assert tier(garden, old) == "active"
    clock.go_to("2026-03-02T12:00:00+00:00")
    talk.read()
    assert tier(garden, old) == "active", "it has just been used"


def test_maintenance_is_no_use(garden: Garden, talk: Talk, clock: Clock) -> None:
    crowd(talk)
    talk.read()
    gardener = garden.talk(maintenance=True)
    before = talk.debt()
    gardener.read("crowd-0")
    gardener.put("crowd-0", f"{LONG}0, said better")
    assert tier(garden, "crowd-0") != "active"
    use = usage.use_of(garden.box.ws.database, gardener.node("crowd-0")["record"])
    assert (
        use.read_at is None and use.written_at is not None and use.written_at < "2026-03-01T12:03"
    )
    assert before.split(" — ")[1].split(", ")[-1] == gardener.debt().split(" — ")[1].split(", ")[-1]


def test_neighbours_of_what_is_read_are_found_again(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    talk.join("a", "b")
    ws, record = garden.box.ws, talk.node("b")["record"]
    from vault_kg.maintain import tending

    tending.put(ws, "user", {record: tiers.ORPHANED}, 0)
    assert "  b: " not in talk.read()["text"]
    assert talk.call("kg_search", query="b Something")["text"].count("b [user, orphaned")
    talk.read("a")
    assert tier(garden, "b") == "archived"


def test_an_edge_brings_an_archived_node_back_also_in_a_pass(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    from vault_kg.maintain import tending

    tending.put(garden.box.ws, "user", {talk.node("b")["record"]: tiers.ARCHIVED}, 0)
    gardener = garden.talk(maintenance=True)
    gardener.join("a", "b")
    assert tier(garden, "b") == "active"


def test_tiers_outlive_the_index(garden: Garden, talk: Talk) -> None:
    crowd(talk)
    talk.read()
    before = tiers_of(garden)
    from vault_kg.index import schema

    schema.drop(garden.box.ws.database)
    garden.box.reopen()
    garden.box.scan()
    after = tiers_of(garden)
    assert before == after and len(before) == 70


def test_two_projects_named_at_once_are_two(garden: Garden) -> None:
    first, second = garden.project("one/same"), garden.project("two/same")
    other = Workspace.open(garden.box.root, clock=garden.box.clock)
    found: list[str] = []
    asking = threading.Thread(target=lambda: found.append(levels.project_at(other, second)))
    with garden.box.ws.database.write():
        own = levels.project_at(garden.box.ws, first)
        asking.start()
        time.sleep(0.3)
    asking.join()
    other.close()
    assert own == "project-same" and found[0].startswith("project-same-")
    assert levels.project_at(garden.box.ws, second) == found[0]
