"""Exporting the journal: everything that was accepted, in the words of records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument
from vault_kg.operations.caller import Caller
from vault_kg.store.files import content_hash

NASTY = "O'Brien said \"it's `done`\"; -- \n\\t 東京都 👩‍👩‍👧"


def dumped(graph: Graph, folder: Path, **more: Any) -> list[dict[str, Any]]:
    """Export into a folder of the operator's, which is allowed meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EXPORTS", str(folder.parent))
        done = graph.ask("dump_wal", target_dir=str(folder), **more)
    assert done["success"] and done["skipped"] == [] and done["target_dir"] == str(folder)
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == done["events"]
    return [json.loads(line) for line in lines]


def test_an_export_holds_every_change_whole(graph: Graph, folder: Path) -> None:
    ada = graph.entity("Ada", "Person", summary=NASTY)
    graph.entity("Ada", "Person", summary="Later.")
    countess = graph.entity("Countess", "Person")
    graph.ask("merge_entities", canonical_uuid=ada, alias_uuids=[countess])
    graph.unmerge(countess)
    graph.withdraw(countess)
    source = graph.episode_ids()
    graph.ask("delete_episode", episode_uuid=sorted(source)[0])
    events = dumped(graph, folder / "out")
    assert [e["seq"] for e in events] == list(range(1, graph.position + 1))
    assert {e["format"] for e in events} == {"knowledge-journal-v1"}
    for event in events:
        for item in (*event["records"], *event["files"]):
            if item["text"] is not None:
                assert content_hash(item["text"].encode()) == item["hash"], "byte for byte"
    asserted = events[0]
    assert (asserted["operation"], asserted["actor"]) == ("knowledge_assert_entity", "tester")
    assert [r["kind"] for r in asserted["records"]] == ["page"]
    assert any(json.loads(f["text"])["arguments"]["summary"] == NASTY for f in asserted["files"]
               if f["path"].endswith("assertion.json"))  # fmt: skip
    assert [m["absorbed"] for e in events for m in e["merges"]] == [countess]
    assert [u for e in events for u in e["unmerged"]] == [countess]
    assert countess in [g["record_id"] for e in events for g in e["guards"]]
    assert any(f["text"] is None and f["hash"] is None for e in events for f in e["files"])
    assert "INSERT" not in (folder / "out/events.jsonl").read_text()


def test_an_export_is_of_one_group_where_one_is_named(graph: Graph, folder: Path) -> None:
    graph.entity("Ada")
    graph.entity("Zugzwang", group="secret")
    events = dumped(graph, folder / "one", group_id="main")
    assert {r["group_id"] for e in events for r in e["records"]} == {"main"}
    caller = Caller("c", partitions=frozenset({"main"}))
    done = graph.ask("dump_wal", caller, target_dir="two")
    assert done["events"] == len(events)
    assert "Zugzwang" not in Path(done["target_dir"], "events.jsonl").read_text()


def test_marks_are_in_it(graph: Graph, folder: Path) -> None:
    graph.entity("Ada")
    graph.ask("wal_mark_create", name="m")
    dumped(graph, folder / "out")
    (mark,) = map(json.loads, (folder / "out/marks.jsonl").read_text().splitlines())
    assert (mark["group_id"], mark["name"], mark["seq"]) == ("main", "m", 1)


def test_a_folder_that_is_not_empty_is_refused_and_nothing_partial_is_left(
    graph: Graph, folder: Path
) -> None:
    graph.entity("Ada")
    exports = graph.root / ".vault-kg/exports"
    (exports / "taken").mkdir(parents=True)
    graph.ask("dump_wal", target_dir="taken")
    refused = graph.refusal("dump_wal", target_dir="taken")
    assert isinstance(refused, InvalidArgument)
    stop = Caller("c", cancelled=lambda: True)
    graph.refusal("dump_wal", stop, target_dir="new")
    assert sorted(p.name for p in exports.iterdir()) == ["taken"]


@pytest.mark.parametrize(
    "target", ["{outside}/new", "../new", "a/../../../new", ".", "link/new", "/", "{root}/main/new"]
)
def test_an_export_goes_nowhere_but_where_exports_may_go(
    graph: Graph, folder: Path, target: str
) -> None:
    graph.entity("Ada")
    exports = graph.root / ".vault-kg/exports"
    exports.mkdir()
    (exports / "link").symlink_to(folder)
    given = target.format(outside=folder, root=graph.root)
    before = sorted(folder.rglob("*"))
    refused = graph.refusal("dump_wal", target_dir=given)
    assert isinstance(refused, InvalidArgument) and "VAULT_KG_EXPORTS" in refused.message
    assert sorted(folder.rglob("*")) == before


def test_an_export_goes_into_a_folder_that_the_operator_names(graph: Graph, folder: Path) -> None:
    graph.entity("Ada")
    done = graph.ask("dump_wal")
    assert Path(done["target_dir"]) == graph.root / ".vault-kg/exports/journal"
    assert len(dumped(graph, folder / "out")) == done["events"] == 1


def test_a_content_that_is_nowhere_is_a_failure_and_is_named(graph: Graph, folder: Path) -> None:
    uuid = graph.entity("Ada")
    graph.entity("Ada", summary="Later.")
    blob = graph.git("rev-parse", f"HEAD~1:{graph.relative(graph.path(uuid))}")
    graph.ws.history.close()
    (graph.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    done = graph.ask("dump_wal")
    assert done["success"] is False
    assert [s["seq"] for s in done["skipped"]] == [1]
