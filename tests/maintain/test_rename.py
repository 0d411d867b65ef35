"""Renaming: everything that names a node stays with it, or the rename is refused; whoever names it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.maintain.conftest import Garden, Talk
from tests.operations.builder import Clock, VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.errors import VaultError
from vault_kg.operations.caller import Caller
from vault_kg.store import failpoints


def renamed(talk: Talk, old: str, new: str, **more: Any) -> dict[str, Any]:
    return talk.call("kg_rename_node", old_id=old, new_id=new, **more)


def test_a_rename_is_a_file_move_that_keeps_identity_and_history(
    garden: Garden, talk: Talk
) -> None:
    talk.put("a", "One.", notes=["Note."])
    record = talk.node("a")["record"]
    answer = renamed(talk, "a", "b")
    assert answer["record"] == record and answer["revision"] == 2
    assert [p.name for p in (garden.box.root / "user/pages/entity").iterdir()] == ["b.md"]
    assert talk.node("b")["notes"] == ["Note."]
    paths = [row["path"] for row in garden.box.history(record)]
    assert paths == ["user/pages/entity/b.md", "user/pages/entity/a.md"]
    assert "renamed from a" in garden.box.git("log", "-1", "--format=%B")
    assert garden.box.git("status", "--porcelain", "--", "user") == ""
    with garden.box.nothing_changes():
        garden.box.scan()
    assert not garden.box.findings()


def test_a_title_made_of_the_id_follows_and_a_persons_stays(garden: Garden, talk: Talk) -> None:
    talk.put("retry-policy")
    record = talk.node("retry-policy")["record"]
    renamed(talk, "retry-policy", "backoff-policy")
    assert garden.box.get(record)["title"] == "Backoff policy"
    garden.box.change(record, title="How we retry")
    talk.read("backoff-policy")
    renamed(talk, "backoff-policy", "retry-rules")
    assert garden.box.get(record)["title"] == "How we retry"


def test_credits_use_and_seen_sets_stay(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["One."])
    talk.call("kg_useful", ids=["a"])
    renamed(talk, "a", "b")
    again = talk.call("kg_useful", ids=["b"])
    assert again["results"][0]["reason"] == "endorsed already in this session"
    talk.put("b", notes=["Two."])  # it had been read in full, and still counts as read


def test_the_former_id_still_finds_the_node(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    renamed(talk, "a", "b")
    other = garden.talk()
    assert other.node("a")["id"] == "b"
    said = other.call("kg_put_node", id="a", gist="x", level="user")
    assert said["id"] == "b", "no second node comes of an old id"
    assert "a was renamed; the node is b" in said["text"]
    talk.read("b")
    renamed(talk, "b", "a")
    assert talk.node("b")["id"] == "a"


def test_a_node_that_was_not_read_as_it_stands_is_not_renamed(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    other = garden.talk()
    other.read()
    talk.put("a", "Changed.")
    assert other.refused("kg_rename_node", old_id="a", new_id="b").code == "stale_revision"
    renamed(other, "a", "b")


def test_a_taken_id_is_refused_with_who_has_it(talk: Talk) -> None:
    talk.put("a")
    talk.put("b", "The other one.")
    refused = talk.refused("kg_rename_node", old_id="a", new_id="b")
    assert "The other one." in refused.message
    talk.refused("kg_rename_node", old_id="a", new_id="a")
    talk.refused("kg_rename_node", old_id="a", new_id="not/an-id")


def test_only_the_case_may_change(garden: Garden, talk: Talk) -> None:
    talk.put("retry-policy")
    assert renamed(talk, "retry-policy", "Retry-Policy")["id"] == "Retry-Policy"


def test_the_id_of_a_deleted_node_is_free(talk: Talk) -> None:
    talk.put("a", "Kept.")
    talk.put("b", "Shell.")
    talk.call("kg_delete_node", id="b")
    renamed(talk, "a", "b")
    assert talk.node("b")["gist"] == "Kept."


def test_a_rename_captured_by_another_level_is_refused_with_who(garden: Garden, talk: Talk) -> None:
    """C29: rename x to y where another level has y."""
    talk.put("x")
    beta = garden.talk("beta")
    beta.put("y", level="project")
    beta.put("p", level="project")
    beta.join("p", "x", "uses", level="project")
    refused = talk.refused("kg_rename_node", old_id="x", new_id="y")
    assert "p → uses → x in project (project-beta)" in refused.message
    narrow = garden.talk(caller=Caller("narrow", partitions=frozenset({"user"})))
    narrow.read("x")
    assert renamed(narrow, "x", "y")["edges"] == 0, "what it does not see is not told of"
    joined = beta.node("p")["edges"][0]["to"]
    assert beta.node(joined)["record"] == talk.node("y", level="user")["record"]


# Everybody who may name whom


LEVELS = ("user", "alpha", "beta")


class World:
    """One vault in which every configuration has names of its own."""

    def __init__(self, folder: Path) -> None:
        self.garden = Garden(VaultBox(folder / "vault", Clock()), folder)
        self.talks = {name: self.garden.talk(name) for name in ("alpha", "beta")}
        self.talks["user"] = self.talks["alpha"]
        self.number = 0

    def put(self, level: str, name: str) -> str:
        talk, tier = self.talks[level], "user" if level == "user" else "project"
        talk.put(name, level=tier)
        return str(talk.node(name, level=tier)["record"])

    def join(self, level: str, source: str, target: str) -> None:
        self.talks[level].join(source, target, level="user" if level == "user" else "project")

    def meanings(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return what the ends of every edge are called in its level, and which records that means."""
        found = {}
        for level in LEVELS:
            talk = self.talks[level]
            shown = "user" if level == "user" else "project"
            for node in talk.read(*self.ours(level), level=shown)["nodes"]:
                for edge in (e for e in node["edges"] if e["level"] == shown):
                    ends = tuple(self.meant(level, edge[end]) for end in ("from", "to"))
                    found[level, f"{node['record']} {edge['rel']}"] = ends
        return found

    def meant(self, level: str, name: str) -> str:
        """Return the record that a name means in a level: its own, or else the user's."""
        partition = "user" if level == "user" else f"project-{level}"
        talk = self.talks[level]
        for level_name in ("project", "user") if partition != "user" else ("user",):
            try:
                return str(talk.node(name, level=level_name)["record"])
            except VaultError:
                continue
        raise AssertionError(f"{name} means nothing in {level}")

    def ours(self, level: str) -> list[str]:
        return sorted(self.names[level])

    names: dict[str, set[str]]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with fast_folder() as name:
        made = World(Path(name))
        yield made
        made.garden.box.ws.close()


CONFIGURATIONS = [
    (owner, taken, named_by, to_taken)
    for owner in ("user", "alpha")
    for taken in itertools.chain.from_iterable(itertools.combinations(LEVELS, n) for n in range(4))
    for named_by in (("user",), ("alpha",), ("beta",), ("alpha", "beta"), LEVELS)
    for to_taken in (False, True)
    if owner == "user" or set(named_by) == {"alpha"}
]


@pytest.mark.parametrize(("owner", "taken", "named_by", "to_taken"), CONFIGURATIONS)
def test_every_edge_means_afterwards_what_it_meant_before(
    world: World, owner: str, taken: tuple[str, ...], named_by: tuple[str, ...], to_taken: bool
) -> None:
    """Of x, renamed to y: who owns it, which levels have a y, and which levels' edges name either."""
    world.number += 1
    x, y, z = (f"{letter}{world.number}" for letter in "xyz")
    world.names = {level: {z} for level in LEVELS}
    world.names[owner].add(x)
    for level in taken:
        if level == owner:
            continue
        world.names[level].add(y)
    for level in LEVELS:
        world.put(level, z)
    world.put(owner, x)
    for level in named_by:
        world.join(level, z, x)
        world.join(level, x, z)
    for level in set(taken) - {owner}:
        world.put(level, y)
    if owner in taken:
        world.put(owner, y)
        world.names[owner].add(y)
    joined_to_taken = to_taken and owner == "alpha" and "user" in taken and owner not in taken
    if joined_to_taken:
        world.join("alpha", z, y)
    before = world.meanings()
    captured = (
        owner in taken
        or (owner == "user" and bool(set(named_by) & set(taken)))
        or joined_to_taken
    )  # fmt: skip
    talk = world.talks[owner]
    ask = {"old_id": x, "new_id": y, "level": "user" if owner == "user" else "project"}
    if captured:
        talk.refused("kg_rename_node", **ask)
    else:
        said = talk.call("kg_rename_node", **ask)
        assert said["edges"] == 2 * len(named_by)
        world.names[owner] = {y if name == x else name for name in world.names[owner]}
    after = world.meanings()
    assert after == before and before


def test_a_new_node_captures_no_edge_either(garden: Garden, talk: Talk) -> None:
    talk.put("x")
    talk.put("p", level="project")
    talk.join("p", "x", level="project")
    refused = talk.refused("kg_put_node", id="x", gist="Another.", level="project")
    assert "p → relates-to → x in project" in refused.message


# Links in texts


def test_links_by_the_old_name_still_lead_there(garden: Garden, talk: Talk) -> None:
    box = garden.box
    talk.put("old-name")
    record = talk.node("old-name")["record"]
    talk.put("b", notes=["See [[old-name]]."])
    garden.talk("beta").put("c", notes=["And [[Old Name]]."], level="project")
    box.put("notes/person.md", "A person links [[old-name]].\n")
    box.scan()
    answer = renamed(talk, "old-name", "new-name")
    assert answer["links_carried"] == 3
    assert box.get(record)["aliases"] == ["old-name", "Old name"]
    box.scan()
    assert not box.findings()
    links = box.call("knowledge_connections", id=record, direction="in")
    assert {"b", "c"} <= {node["title"].lower() for node in links["nodes"]}


def test_without_such_links_no_alias_is_left_behind(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    renamed(talk, "a", "b")
    assert garden.box.get(talk.node("b")["record"])["aliases"] == []


def test_a_link_that_would_come_to_mean_the_node_stops_the_rename(
    garden: Garden, talk: Talk
) -> None:
    box = garden.box
    page = box.page("Ada Lovelace", partition="user", aliases=["countess"])
    box.put("notes/person.md", "Of [[countess]].\n")
    box.scan()
    talk.put("a")
    refused = talk.refused("kg_rename_node", old_id="a", new_id="countess")
    assert "[[countess]] in notes/person.md" in refused.message
    assert box.lookup("countess") == page


def test_links_by_the_old_path_are_named_in_notes_and_followed_in_pages(
    garden: Garden, talk: Talk
) -> None:
    box = garden.box
    talk.put("a")
    note = box.put("notes/person.md", "By path: [[user/pages/entity/a]].\n")
    text = (
        "By path [[user/pages/entity/a#Notes|shown]], [here](../entity/a.md#x) and `[[entity/a]]`.\n\n"
        "```\n[[user/pages/entity/a]]\n```\n\nIt is a plain user/pages/entity/a <!-- [[entity/a]] -->.\n"
    )
    page = box.page("Linking", "Topic", body=text, partition="user")
    claim = box.claim(page, "As [[user/pages/entity/a]] says.", partition="user")
    box.scan()
    before = {path: box.path(path).read_text() for path in (page, claim)}
    answer = renamed(talk, "a", "b")
    assert sorted(answer["links_left"]) == sorted(
        [f"{box.get(claim)['path']}: user/pages/entity/a", "notes/person.md: user/pages/entity/a"]
    )
    assert answer["links_carried"] == 2 and "notes/person.md" in answer["text"]
    assert note.read_text() == "By path: [[user/pages/entity/a]].\n"
    assert box.path(claim).read_text() == before[claim]
    after = box.path(page).read_text()
    assert after.endswith(
        text.replace("entity/a#Notes", "entity/b#Notes").replace("entity/a.md", "entity/b.md")
    )
    assert box.get(page)["revision"] == 2
    left = {f["path"] for f in box.findings("unresolved_link")}
    assert left == {box.get(claim)["path"], "notes/person.md"}


def test_a_page_that_links_to_itself_by_path_follows_itself(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["Mine: [[user/pages/entity/a]]."])
    assert renamed(talk, "a", "b")["links_left"] == []
    assert talk.node("b")["notes"] == ["Mine: [[user/pages/entity/b]]."]
    assert garden.box.findings() == []


def test_a_page_in_a_partition_that_is_not_seen_stays(garden: Garden, talk: Talk) -> None:
    box = garden.box
    talk.put("a")
    page = box.page("Hidden", "Topic", body="[[user/pages/entity/a]]\n", partition="secret")
    box.scan()
    narrow = garden.talk(caller=Caller("narrow", partitions=frozenset({"user"})))
    narrow.read("a")
    before = box.path(page).read_bytes()
    answer = renamed(narrow, "a", "b")
    assert answer["links_left"] == [] and "secret" not in answer["text"]
    assert box.path(page).read_bytes() == before


def test_reading_again_is_not_needed_for_what_only_followed(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("c", notes=["By path [[user/pages/entity/a]]."])
    talk.join("a", "c", notes=["Why."])
    renamed(talk, "a", "b")
    assert talk.node("c")["notes"] == ["By path [[user/pages/entity/b]]."]
    talk.put("c", notes=["Another."])
    talk.join("b", "c", notes=["Another."])


# Edges that are called by it


def edge_of(garden: Garden, talk: Talk, name: str) -> dict[str, Any]:
    ends = talk.node(name)["record"]
    listed = garden.box.call("knowledge_records", kind="relationship", limit=100)["records"]
    (edge,) = [one["id"] for one in listed if ends in (one["from"], one["to"])]
    return garden.box.get(edge)


def test_titles_and_files_made_of_the_id_follow(garden: Garden, talk: Talk) -> None:
    box = garden.box
    talk.put("retry-policy")
    talk.put("queue")
    talk.join("queue", "retry-policy", "depends on", notes=["A note on retry-policy."])
    before = edge_of(garden, talk, "queue")
    assert before["title"] == "queue depends on retry-policy"
    renamed(talk, "retry-policy", "backoff-rules")
    after = edge_of(garden, talk, "queue")
    assert (after["id"], after["revision"]) == (before["id"], 2)
    assert after["title"] == "queue depends on backoff-rules"
    folder = before["path"].rpartition("/")[0]
    assert after["path"] == f"{folder}/queue-depends-on-backoff-rules.md"
    assert [p.name for p in (box.root / folder).iterdir()] == ["queue-depends-on-backoff-rules.md"]
    assert after["body"] == before["body"].replace("on retry-policy\n", "on backoff-rules\n", 1)
    assert "A note on retry-policy." in after["body"]
    assert [row["path"] for row in box.history(after["id"])] == [after["path"], before["path"]]
    assert box.git("status", "--porcelain", "--", "user") == ""
    with box.nothing_changes():
        box.scan()
    assert box.findings() == []


def test_what_a_person_called_an_edge_stays(garden: Garden, talk: Talk) -> None:
    box = garden.box
    talk.put("a")
    talk.put("c")
    talk.join("a", "c", "knows")
    record = edge_of(garden, talk, "c")["id"]
    box.edit(record, "title: a knows c", "title: Old friends")
    moved = box.path(record).rename(box.root / "user/relationships/friends.md")
    box.scan()
    talk.read("a")
    renamed(talk, "a", "b")
    view = box.get(record)
    assert (view["title"], view["path"]) == ("Old friends", box.relative(moved))


def test_edges_of_other_levels_follow_and_files_never_collide(garden: Garden, talk: Talk) -> None:
    box = garden.box
    for name in ("a", "c"):
        talk.put(name)
    beta = garden.talk("beta")
    beta.put("p", level="project")
    beta.join("p", "a", "uses", level="project")
    talk.join("a", "c", "knows")
    folder = box.path(edge_of(garden, talk, "c")["id"]).parent
    (folder / "b-knows-c.md").write_text("A person's own note.\n")
    box.scan()
    renamed(talk, "a", "b")
    assert edge_of(garden, beta, "p")["title"] == "p uses b"
    view = edge_of(garden, talk, "c")
    assert view["title"] == "b knows c" and view["path"].startswith(
        f"{box.relative(folder)}/b-knows-c-"
    )
    assert (folder / "b-knows-c.md").read_text() == "A person's own note.\n"


# Power cuts


@pytest.mark.parametrize(
    "point", [p for p in failpoints.POINTS if p.startswith(("accept", "install", "publish"))]
)
def test_a_power_cut_leaves_the_node_under_one_of_its_names(
    garden: Garden, talk: Talk, point: str
) -> None:
    talk.put("a", "Kept.")
    record = talk.node("a")["record"]
    asked = {"session_id": talk.id, "old_id": "a", "new_id": "b"}
    environment = os.environ | {failpoints.ENVIRONMENT: point, "VAULT_KG_EMBEDDING_MODEL": "off"}
    subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "--vault", str(garden.box.root), "call",
         "kg_rename_node", "--json", json.dumps(asked)],
        env=environment, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    garden.box.reopen()
    garden.box.scan()
    files = [p.name for p in (garden.box.root / "user/pages/entity").iterdir()]
    assert files in (["a.md"], ["b.md"])
    assert talk.node(files[0].removesuffix(".md"))["record"] == record
    assert not garden.box.findings()


def test_a_lost_state_is_rebuilt_with_what_was_renamed_and_deleted(
    garden: Garden, talk: Talk
) -> None:
    for id in "abc":
        talk.put(id, f"Of {id}.")
    talk.join("a", "b")
    renamed(talk, "a", "d")
    talk.call("kg_delete_node", id="c")
    renamed(talk, "d", "c")
    records = {id: talk.node(id)["record"] for id in "bc"}
    box = garden.box
    box.ws.close()
    for path in (box.root / ".vault-kg").glob("state.sqlite*"):
        path.unlink()
    done = subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "recover", "--vault", str(box.root)],
        env=os.environ | {"VAULT_KG_EMBEDDING_MODEL": "off"}, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    box.ws = type(box.ws).open(box.root, clock=box.clock)
    box.scan()
    after = garden.talk()
    assert {id: after.node(id)["record"] for id in "bc"} == records
    assert after.node("c")["edges"][0]["to"] == "b"
    assert "HEALTH: 2 nodes, 1 edges" in after.read()["text"]
    assert not box.findings()
