"""What a level is owed is counted, and not read: against the answer worked out from every page."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.maintain.conftest import Garden, Talk
from vault_kg.index import nodes, tiered
from vault_kg.index.nodes import Node
from vault_kg.maintain import debt, lifting, survey, touches
from vault_kg.operations.workspace import Workspace
from vault_kg.records import slugs
from vault_kg.state import kg_sessions, tiers

WORDS = ("engine", "loom", "review", "week", "mill", "store", "audit", "card")
FACTORS: tuple[survey.Factor, ...] = ("oversized", "long_ids", "unconnected", "dangling", "lift")


@pytest.fixture
def grown(garden: Garden, talk: Talk) -> Workspace:
    """A level with pages of every sort: long, dated, archived, of one id, with touches and edges."""
    chance = random.Random(7)
    root = Path(garden.folder / "alpha")
    (root / "here.py").touch()
    made: list[str] = []
    for number in range(45):
        words = chance.sample(WORDS, chance.randint(1, 5))
        words = [words[0], "2026-01-05"] if number % 9 == 0 else words
        gist = chance.choice(["Of looms.", "é" * 300, "é" * 301, "𝄞" * 300, "𝄞" * 301, "y" * 500])
        lost = chance.choice([[], ["here.py"], ["gone.py", "/nowhere/at/all.txt"], ["a/b.py:3"]])
        made.append(
            talk.put("-".join([*words, str(number)]), gist, touches=[*lost], level="project")
        )
    for _ in range(25):
        source, target = chance.sample(made, 2)
        talk.join(source, target, level="project")
    box = garden.box
    twin = next(path for path in sorted(box.root.rglob("*.md")) if path.stem == made[0])
    other = twin.parent.parent / "topic" / twin.name
    other.parent.mkdir(exist_ok=True)
    record = talk.node(made[0], level="project")["record"]
    other.write_text(
        twin.read_text().replace(record, record[:-1] + ("0" if record[-1] != "0" else "1"))
    )
    box.scan()
    talk.read()
    ids = sorted(node.id for node in nodes.in_tier(box.ws.database, level(box.ws), tiers.ACTIVE))
    tiers.put_lifts(box.ws.database, level(box.ws), [ids[:3], ids[3:5], ["pg_gone", ids[5]]])
    box.ws.database.execute(
        "UPDATE counted_page SET tier = 'archived' WHERE record_id IN (?, ?)", (ids[0], ids[9])
    )
    return box.ws


def level(ws: Workspace) -> str:
    return next(p for p in nodes.partitions(ws.database) if p.startswith("project-"))


def in_view(ws: Workspace) -> list[Node]:
    return nodes.in_tier(ws.database, level(ws), tiers.ACTIVE)


def dangling(ws: Workspace) -> list[tuple[str, str]]:
    shown = {node.id: node for node in in_view(ws)}
    every = tiers.dangling(ws.database, level(ws))
    return [(one, lost) for one, lost in every if one in shown and lost in shown[one].touches]


def expected(ws: Workspace) -> dict[str, list[tuple[str, str]]]:
    """Return (record, what) of the pages behind each factor, from every page in view."""
    active, lifts = in_view(ws), tiers.lifts(ws.database, level(ws))
    shown = {node.id for node in active}
    long = sorted((n for n in active if len(n.gist) > 300), key=lambda n: (-len(n.gist), n.name))
    named = sorted(active, key=lambda n: (-len(slugs.words(n.slug)), n.name))
    alone = sorted((n for n in active if not n.degree), key=lambda n: n.name)
    return {
        "oversized": [(n.id, f"gist of {len(n.gist)} characters") for n in long],
        "long_ids": [
            (n.id, "dated" if n.dated else f"{len(slugs.words(n.slug))} words")
            for n in named
            if n.long_slug and n.id not in lifts
        ],
        "unconnected": [(n.id, "in no edge") for n in alone],
        "dangling": dangling(ws),
        "lift": [(i, f"cluster {c}") for c, i in sorted((c, i) for i, c in lifts.items()) if i in shown],
    }  # fmt: skip


def test_the_counts_are_those_of_every_page_in_view(grown: Workspace) -> None:
    counts = survey.survey(grown, level(grown)).counts
    wanted = expected(grown)
    assert all(wanted.values()), "the level has pages of every sort"
    assert counts.active == len(in_view(grown)) > 25
    assert counts.oversized == len(wanted["oversized"])
    assert counts.long_ids == len(wanted["long_ids"])
    assert counts.unconnected == len(wanted["unconnected"])
    assert counts.dangling_touches == len(wanted["dangling"])
    assert counts.dangling_nodes == len({one for one, _ in wanted["dangling"]})
    lifts = [what for _, what in wanted["lift"]]
    assert (counts.lift_members, counts.lift_clusters) == (len(lifts), len(set(lifts)))


def test_the_pages_behind_a_factor_come_in_their_order(grown: Workspace) -> None:
    found, every = survey.survey(grown, level(grown)), expected(grown)
    for factor, limit in product(FACTORS, (1, 4, 1_000)):
        behind = survey.first_behind(grown, found, factor, limit)
        named = [(one.node.id, one.what) for one in behind.targets]
        assert named == every[factor][:limit], (factor, limit)
        assert behind.total == len(every[factor])


def test_touches_and_lessons_are_those_of_every_page_in_view(grown: Workspace) -> None:
    db, active = grown.database, in_view(grown)
    db.execute("UPDATE kg_level SET checked_at = NULL")
    survey.check_touches(grown, level(grown))
    root = kg_sessions.root_of(db, level(grown))
    assert sorted(tiers.dangling(db, level(grown))) == sorted(
        {(n.id, t) for n in active for t in n.touches if touches.is_dangling(t, root)}
    )
    beside = nodes.edges_among(db, level(grown), {node.id for node in active})
    clusters = lifting.clusters(active, beside)
    assert clusters
    assert tiers.lifts(db, level(grown)) == {
        one: number for number, cluster in enumerate(clusters) for one in cluster
    }


def test_the_most_revised_come_first(grown: Workspace) -> None:
    grown.database.execute("UPDATE counted_page SET revision = 3 + length(slug) % 4")
    active = sorted(in_view(grown), key=lambda node: (-node.revision, node.name))
    wanted = [node.id for node in active if node.revision >= 4]
    found = tiered.revised(grown.database, level(grown), tiers.ACTIVE, 4, 1_000)
    assert [node.id for node in found] == wanted
    assert tiered.revised(grown.database, level(grown), tiers.ACTIVE, 4, 2) == found[:2]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The ids of the pages that are read from the counters."""
    ids: list[str] = []
    original = nodes._node

    def noted(row: tuple[Any, ...]) -> Node:
        ids.append(row[0])
        return original(row)

    monkeypatch.setattr(nodes, "_node", noted)
    yield ids


def test_no_page_is_read_to_be_counted(garden: Garden, grown: Workspace, read: list[str]) -> None:
    told = garden.box.call("maintain_status")
    graph = next(one for one in told["graphs"] if one["level"] == "project")
    assert graph["active"] > 25 and "oversized" in graph["debt_line"]
    db = grown.database
    behind = {one for one, _ in tiers.dangling(db, level(grown))} | {*tiers.lifts(db, level(grown))}
    del read[:]
    garden.box.call("maintain_status")
    assert set(read) <= behind and len(behind) < 30


def test_of_many_pages_behind_a_factor_only_those_are_read_that_are_named(
    grown: Workspace, read: list[str]
) -> None:
    found = survey.survey(grown, level(grown))
    del read[:]
    named = survey.first_behind(grown, found, "oversized", 2)
    assert named.total > 10 and len(read) == len(named.targets) == 2
    assert debt.GIST_WANTED == 300
