"""`corrections.yaml`: validated by what it names, applied entry by entry, marked in the same step."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import ConflictBlocked
from vault_kg.operations.caller import Caller
from vault_kg.store import failpoints


def filled(graph: Graph) -> dict[str, str]:
    made = {name: graph.entity(name) for name in ("Alice", "A. Smith", "Al", "Bob")}
    made["edge"] = graph.edge("A. Smith", "met", "Bob")
    return made


def put(graph: Graph, text: str) -> None:
    graph.put("corrections.yaml", text)


def text(graph: Graph) -> str:
    return (graph.root / "corrections.yaml").read_bytes().decode()


def issues(graph: Graph) -> list[tuple[str | None, int, str]]:
    found = graph.ask("validate_corrections")
    assert found["valid"] is (not found["issues"])
    return [(i["id"], i["line"], i["message"]) for i in found["issues"]]


def test_a_vault_without_the_file_is_valid_and_nothing_is_applied(graph: Graph) -> None:
    found = graph.ask("validate_corrections")
    assert (found["valid"], found["total_corrections"]) == (True, 0)
    done = graph.ask("apply_corrections")
    assert (done["success"], done["applied"], done["skipped"]) == (True, 0, 0)
    assert "no corrections.yaml" in done["message"]


def test_entries_are_applied_in_order_and_marked_where_they_stand(graph: Graph) -> None:
    made = filled(graph)
    put(
        graph,
        f"""\
# Mine.
corrections:
  - id: c1      # the first
    type: Same_As
    canonical: alice
    aliases:
      - "A. Smith"
  - {{id: c2, type: retract, edge_uuid: {made["edge"]}}}  # flow
""",
    )
    position = graph.position
    plan = graph.ask("apply_corrections", dry_run=True)
    assert [d["action"] for d in plan["details"]] == ["dry_run:same_as", "dry_run:retract"]
    assert graph.position == position and "applied_at" not in text(graph)
    done = graph.ask("apply_corrections")
    assert (done["success"], done["applied"], done["skipped"]) == (True, plan["applied"], 0)
    assert done["details"][0]["merged_count"] == plan["details"][0]["merged_count"] == 1
    assert graph.position == position + 2, "one entry each"
    lines = text(graph).split("\n")
    assert lines[:3] == ["# Mine.", "corrections:", "  - id: c1      # the first"]
    assert lines[3].startswith('    applied_at: "2026-') and lines[4] == "    type: Same_As"
    assert lines[8].startswith('  - {id: c2, applied_at: "2026-') and lines[8].endswith("  # flow")
    assert graph.names() == {"Alice", "Al", "Bob"} and graph.edges() == []
    assert graph.get(made["edge"])["lifecycle"] == "withdrawn"
    assert graph.git("status", "--short", "corrections.yaml") == ""
    again = graph.ask("apply_corrections")
    assert (again["applied"], again["skipped"], graph.position) == (0, 2, position + 2)


def test_an_entry_whose_mark_was_lost_is_not_applied_twice(graph: Graph) -> None:
    filled(graph)
    content = "corrections:\n- id: c1\n  type: same_as\n  canonical: Alice\n  aliases: [Al]\n"
    put(graph, content)
    graph.ask("apply_corrections")
    put(graph, content)
    found = graph.ask("validate_corrections")
    assert (found["total_corrections"], found["unapplied_corrections"]) == (1, 0)
    assert graph.ask("apply_corrections")["skipped"] == 1


def test_an_unmerged_correction_stays_unmerged(graph: Graph) -> None:
    made = filled(graph)
    put(graph, "corrections:\n- id: c1\n  type: same_as\n  canonical: Alice\n  aliases: [Al]\n")
    graph.ask("apply_corrections")
    graph.unmerge(made["Al"])
    graph.ask("apply_corrections")
    assert "Al" in graph.names()


def test_one_entry_that_fails_changes_nothing_and_stops_no_other(graph: Graph) -> None:
    filled(graph)
    put(
        graph,
        """\
corrections:
- id: bad
  type: same_as
  canonical: Alice
  aliases: ["A. Smith", "Nobody"]
- id: good
  type: same_as
  canonical: Alice
  aliases: [Al]
""",
    )
    done = graph.ask("apply_corrections")
    assert (done["success"], done["applied"]) == (False, 1)
    assert [(e["id"], e["code"]) for e in done["errors"]] == [("bad", "not_found")]
    assert graph.names() == {"Alice", "A. Smith", "Bob"}, "not half of it"
    assert text(graph).count("applied_at") == 1


def test_other_bytes_of_the_file_stay(graph: Graph) -> None:
    filled(graph)
    put(graph, "\ufeff# BOM\r\ncorrections:\r\n- id: c1\r\n  type: same_as\r\n  canonical: Alice\r\n"
        "  aliases: [Al]\r\n  applied_at:\r\n- id: c2\r\n  type: same_as\r\n  canonical: Alice\r\n"
        "  aliases: ['A. Smith']")  # fmt: skip
    assert graph.ask("apply_corrections")["applied"] == 2
    lines = text(graph).split("\r\n")
    assert lines[0] == "\ufeff# BOM" and lines[2] == "- id: c1" and "\n" not in "".join(lines)
    assert lines[6].startswith('  applied_at: "2026-') and lines[8].startswith(
        '  applied_at: "2026-'
    )
    assert lines[-1] == "  aliases: ['A. Smith']"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x: [", "line"), ("[]", "mapping"), ("corrections: 3", "list"), ("\x00", "control"),
        ("corrections: [3]", "mapping"), ("corrections: [{type: retract}]", "id"),
        ("corrections: [{id: a, type: nope}]", "same_as or retract"),
        ("corrections: [{id: a, type: retract}]", "edge_uuid"),
        ("corrections: [{id: a, type: retract, edge_uuid: re_x}]", "no edge"),
        ("corrections: [{id: a, type: same_as, aliases: [Al]}]", "canonical"),
        ("corrections: [{id: a, type: same_as, canonical: Alice}]", "aliases"),
        ("corrections: [{id: a, type: same_as, canonical: Alice, aliases: Al}]", "list"),
        ("corrections: [{id: a, type: same_as, canonical: Nope, aliases: [Al]}]", "Nope"),
        ("corrections: [{id: a, type: same_as, canonical: Alice, aliases: [Nope]}]", "Nope"),
        ("corrections: [{id: a, type: same_as, canonical_uuid: pg_x, aliases: [Al]}]", "pg_x"),
        ("corrections: [{id: a, type: same_as, canonical: Alice, aliases: [Al], zz: 1}]", "zz"),
    ],
)  # fmt: skip
def test_what_would_hinder_an_entry_is_an_issue(graph: Graph, content: str, said: str) -> None:
    filled(graph)
    put(graph, content)
    found = issues(graph)
    assert len(found) == 1 and (said in found[0][2] or said == "line")
    before = dict(graph.files())
    done = graph.ask("apply_corrections")
    assert not done["success"] and done["applied"] == 0 and graph.files() == before


def test_ids_are_unique_and_aliases_lead_in_no_circle(graph: Graph) -> None:
    filled(graph)
    one = "- {{id: {}, type: same_as, canonical: {}, aliases: [{}]}}\n"
    put(
        graph,
        "corrections:\n" + one.format("a", "Alice", "Al") + one.format("a", "Bob", "A. Smith"),
    )
    assert [(i, line) for i, line, _ in issues(graph)] == [("a", 3)]
    put(graph, "corrections:\n" + one.format("a", "Alice", "Al") + one.format("b", "Al", "Alice"))
    assert ("b", 3, "its aliases lead in a circle") in issues(graph)


def test_an_edit_of_the_file_in_between_is_never_written_over(
    graph: Graph, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(graph)
    put(graph, "corrections:\n- id: c1\n  type: same_as\n  canonical: Alice\n  aliases: [Al]\n")
    edited, go = text(graph) + "# a late thought\n", folder / "go"
    monkeypatch.setattr(failpoints, "_reached", {})
    monkeypatch.setenv(failpoints.ENVIRONMENT, f"accept.after=pause:{go}")
    with ThreadPoolExecutor(1) as pool:
        applying = pool.submit(graph.ask, "apply_corrections")
        while not Path(f"{go}.reached").exists():
            time.sleep(0.005)
        put(graph, edited)
        go.touch()
        done = applying.result(30)
    assert [e["code"] for e in done["errors"]] == [ConflictBlocked.code]
    assert text(graph) == edited and done["applied"] == 0


def test_entries_of_groups_that_a_caller_does_not_see_are_not_told(graph: Graph) -> None:
    filled(graph)
    graph.entity("X", group="secret")
    put(
        graph,
        """\
corrections:
- {id: theirs, type: same_as, group_id: secret, canonical: X, aliases: [Zugzwang]}
- {id: broken, type: nope, group_id: secret}
- {id: ours, type: same_as, canonical: Alice, aliases: [Al]}
""",
    )
    caller = Caller("c", partitions=frozenset({"main"}))
    found = graph.ask("validate_corrections", caller)
    assert (found["total_corrections"], found["issues"]) == (1, [])
    done = graph.ask("apply_corrections", caller)
    assert (done["applied"], done["errors"]) == (1, [])
    assert "Zugzwang" not in str(found) + str(done)
