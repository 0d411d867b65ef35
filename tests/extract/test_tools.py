"""The graph tools from outside: what each answers of a small tree, and what it says of its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extract.coded import Coded, function, labels
from vault_kg.errors import Ambiguous, InvalidArgument, NotFound, ScopeDenied, Unavailable
from vault_kg.extract import opening
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.extract.tools import impact, paths
from vault_kg.extract.walks import walk
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.serve.answers import fitting

CHAIN = {
    "app": "def main; call load; call save",
    "store": "def load; call parse; def save",
    "text__parse": "def parse; call missing",
    "test_store": "def test_load; call load",
}


@pytest.fixture
def chain(coded: Coded) -> Coded:
    coded.put(**CHAIN)
    coded.index()
    return coded


# Envelope


def test_before_anything_is_indexed_every_tool_answers_with_nothing(coded: Coded) -> None:
    for name, arguments in (
        ("graph_resolve", {"q": "load"}), ("graph_query", {"q": "load"}),
        ("graph_search", {"query": "load"}), ("graph_context", {"uid": "load"}),
        ("graph_references", {"uid": "load"}), ("graph_impact", {"uid": "load"}),
        ("graph_path", {"source_uid": "load", "target_uid": "save"}),
        ("graph_rename_plan", {"uid": "load", "new_name": "x"}), ("graph_trace", {"entry_uid": "x"}),
        ("graph_similar", {"uid": "load"}), ("graph_contracts", {}), ("graph_entrypoints", {}),
        ("graph_communities", {}), ("graph_centrality", {}), ("graph_ranking", {}),
        ("graph_cycles", {}), ("graph_dead_code", {}), ("graph_test_gap", {}), ("graph_export", {}),
        ("graph_doctor", {}),
    ):  # fmt: skip
        data = coded.ask(name, **arguments)
        assert data["meta"]["freshness"]["state"] == "empty", name
        assert "nothing is indexed yet" in data["meta"]["hint"], name
        assert not data["meta"]["truncated"], name
        assert not any(value for key, value in data.items() if key.startswith("total")), name


def test_a_graph_that_cannot_be_opened_is_said_to_be_missing(
    chain: Coded, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Unavailable("no")

    monkeypatch.setattr(opening, "backend", refuse)
    meta = chain.ask("graph_resolve", q="load")["meta"]
    assert meta["backend"] == "memory" and meta["backend_fallback"]


def test_the_graph_may_be_deleted_at_any_time(chain: Coded) -> None:
    for path in chain.box.root.glob(".vault-kg/graph.sqlite*"):
        path.unlink()
    assert chain.ask("graph_resolve", q="load")["total"] == 0
    chain.index()
    assert chain.ask("graph_resolve", q="load")["total"] == 1


def test_a_damaged_graph_is_made_anew(chain: Coded) -> None:
    chain.box.ws.close()
    opening.backend(chain.box.ws).close()
    path = opening.path_of(chain.box.ws)
    for beside in path.parent.glob("graph.sqlite-*"):
        beside.unlink()
    path.write_bytes(b"This is no database." * 1_000)
    chain.box.reopen()
    assert chain.index()["counts"]["nodes"]["function"] == 5


def test_a_changed_file_is_said_to_be_stale(chain: Coded) -> None:
    assert chain.ask("graph_context", uid="load")["meta"]["freshness"]["state"] == "fresh"
    chain.put(store="def load; call parse; def save; def more")
    fresh = chain.ask("graph_context", uid="load")["meta"]["freshness"]
    assert fresh["state"] == "stale" and fresh["disk_hash"] != fresh["indexed_hash"]
    (chain.project / "store.tiny").unlink()
    assert chain.ask("graph_context", uid="load")["meta"]["freshness"]["state"] == "gone"


# Finding


@pytest.mark.parametrize(
    ("text", "how", "found"),
    [
        (function("store", "load"), "direct", "load"), ("store.tiny::load", "direct", "load"),
        ("load", "direct", "load"), ("load()", "direct", "load"), ("store.tiny", "direct", "store.tiny"),
        ("store.tiny:12", "direct", "store.tiny"), ("text/parse.tiny", "direct", "parse.tiny"),
        ("parse.tiny", "path_suffix", "parse.tiny"), ("parse.tiny::parse", "path_suffix", "parse"),
        ("what parse does", "fuzzy_fts5", "parse"), ("oad", "fuzzy_label", "load"),
    ],
)  # fmt: skip
def test_a_name_is_resolved_and_it_is_said_how(
    chain: Coded, text: str, how: str, found: str
) -> None:
    data = chain.ask("graph_resolve", q=text)
    assert data["meta"]["resolved_from"] == how
    assert data["results"][0]["label"] == found and data["count"] <= data["total"]
    assert (data["results"][0]["confidence"] == 1.0) == (how == "direct")


def test_a_folder_is_resolved_to_what_lies_in_it(chain: Coded) -> None:
    assert labels(chain.ask("graph_resolve", q="text")["results"]) == ["text"]
    assert (
        chain.ask("graph_resolve", q="text", kinds="function")["meta"]["resolved_from"] != "direct"
    )


def test_nothing_is_an_answer_that_says_what_to_do(chain: Coded) -> None:
    assert chain.ask("graph_resolve", q="zugzwang")["total"] == 0
    data = chain.ask("graph_references", uid="zugzwang")
    assert data["node"] is None and data["total"] == 0 and "graph_resolve" in data["meta"]["hint"]
    assert data["meta"]["near"] == []


@pytest.mark.parametrize(
    "typed", ["lod", "store.tiny::lod", "code:function:store.tiny::loads", "Lowd"]
)
def test_a_name_that_nothing_has_comes_with_those_that_are_near(chain: Coded, typed: str) -> None:
    for name in ("graph_references", "graph_context", "graph_impact"):
        data = chain.ask(name, uid=typed)
        assert data["node"] is None
        assert function("store", "load") in data["meta"]["near"], (name, data["meta"])


def test_a_path_that_nothing_has_comes_with_files_of_a_near_name(chain: Coded) -> None:
    data = chain.ask("graph_context", uid="src/stor.tiny")
    assert data["node"] is None and data["meta"]["near"][0] == "code:file:store.tiny"


def test_a_guess_is_reported(chain: Coded) -> None:
    data = chain.ask("graph_references", uid="lo")
    assert data["meta"]["resolved_from"] == "fuzzy_label"
    assert "code:function:store.tiny::load" in data["meta"]["hint"]


def test_the_end_of_several_paths_is_not_guessed(chain: Coded) -> None:
    chain.put(other__parse="def parse")
    chain.index()
    for text in ("parse.tiny", "parse.tiny::parse"):
        with pytest.raises(Ambiguous) as caught:
            chain.ask("graph_references", uid=text)
        assert len(caught.value.data["candidates"]) == 2
    found = chain.ask("graph_references", uid="other/parse.tiny::parse")
    assert found["node"]["uid"] == function("other/parse", "parse")


def test_a_name_of_several_is_not_guessed(chain: Coded) -> None:
    chain.put(other="def load")
    chain.index()
    with pytest.raises(Ambiguous) as caught:
        chain.ask("graph_impact", uid="load")
    assert {c["uid"] for c in caught.value.data["candidates"]} == {
        function("store", "load"), function("other", "load"),
    }  # fmt: skip


def test_words_find_nodes_with_what_is_around_them(chain: Coded) -> None:
    data = chain.ask("graph_query", q="parse", kinds=["function"], max_hops=1)
    assert data["total"] == 1
    assert set(labels(data["results"][0]["neighbours"])) == {"load"}, (
        "a call of .2 is not sure enough"
    )
    more = chain.ask("graph_query", q="parse", kinds=["function"], max_hops=1, confidence_min=0.1)
    assert set(labels(more["results"][0]["neighbours"])) == {"load", "missing"}
    assert chain.ask("graph_query", q="load what", limit=1)["total"] == 2


def test_search_says_what_its_score_is_made_of(chain: Coded) -> None:
    data = chain.ask("graph_search", query="load")
    best = data["results"][0]
    assert best["label"] == "load" and best["similarity"] is None and best["in_degree"] == 3
    assert data["total"] == 2


# Around a node


def test_a_context_has_each_kind_of_edge_with_its_total(chain: Coded) -> None:
    data = chain.ask("graph_context", uid="load", include_evidence=True, include_content=True)
    groups = {(g["direction"], g["kind"]): g for g in data["groups"]}
    assert groups.keys() == {("out", "calls"), ("in", "calls")} and data["total"] == 3
    edge = groups["out", "calls"]["edges"][0]
    assert edge["target"] == function("text/parse", "parse") and edge["confidence"] == 0.9
    assert edge["signals"] == [{"name": "same_name", "weight": 0.9}] and edge["line"] == 2
    assert data["content"] == "def load"
    spine = chain.ask("graph_context", uid="load", include_spine=True, direction="in")
    assert {g["kind"] for g in spine["groups"]} == {"calls", "contains"}


def test_a_deep_context_is_a_summary(chain: Coded) -> None:
    data = chain.ask("graph_context", uid="main", depth=3)
    assert set(labels(data["nearby"])) >= {"load", "save", "parse"}
    assert data["nearby_total"] == len(data["nearby"])


def test_references_say_who_and_of_which_kinds(chain: Coded) -> None:
    data = chain.ask("graph_references", uid="load")
    assert {r["source"] for r in data["references"]} == {
        function("app", "main"), function("test_store", "test_load"),
    }  # fmt: skip
    assert data["total"] == 2 and set(labels(data["sources"])) == {"main", "test_load"}
    one = chain.ask("graph_references", uid="load", limit=1)
    assert one["count"] == 1 and one["total"] == 2 and one["meta"]["truncated"]
    none = chain.ask("graph_references", uid="load", kinds="imports,inherits")
    assert none["total"] == 0 and none["zero_from_kind_filter"]
    assert none["edge_kinds_present"] == {"calls": 2, "contains": 1}


def test_a_path_is_found_in_either_direction(chain: Coded) -> None:
    data = chain.ask("graph_path", source_uid="main", target_uid="parse")
    assert labels(data["path"]) == ["main", "load", "parse"] and data["hops"] == 2
    assert {e["traversal_direction"] for e in data["edges"]} == {"forward"}
    back = chain.ask("graph_path", source_uid="parse", target_uid="test_load")
    assert labels(back["path"]) == ["parse", "load", "test_load"]
    assert {e["traversal_direction"] for e in back["edges"]} == {"reverse"}


def test_a_path_says_why_there_is_none(chain: Coded) -> None:
    chain.put(island="def island")
    chain.index()
    (chain.project / "island.tiny").write_text("def island\n")
    far = chain.ask("graph_path", source_uid="main", target_uid="parse", max_hops=1)
    assert far["reason"] == "exhausted_budget" and far["path"] == []
    assert chain.ask("graph_path", source_uid="main", target_uid="zz")["reason"] == "unknown_end"
    assert chain.ask("graph_path", source_uid="main", target_uid="main")["hops"] == 0


def test_a_path_does_not_lead_through_what_only_is_used_by_both(coded: Coded) -> None:
    coded.put(a="def one; call nowhere", b="def two; call nowhere")
    coded.index()
    ends = {"source_uid": "one", "target_uid": "two"}
    shared = coded.ask("graph_path", **ends, allow_external_intermediates=True)
    assert labels(shared["path"]) == ["one", "nowhere", "two"], "the sides meet at a stub"
    assert "nowhere" not in labels(coded.ask("graph_path", **ends)["path"])
    outside = coded.ask("graph_path", source_uid="one", target_uid=shared["path"][1]["uid"])
    assert labels(outside["path"]) == ["one", "nowhere"], "a stub may be an end"


def test_a_path_does_not_meet_at_a_hub(coded: Coded, monkeypatch: pytest.MonkeyPatch) -> None:
    coded.put(a="def one; call log; def two; call log; def three; call log", b="def log")
    coded.index()
    called = function("b", "log")
    for most, expected in ((4, True), (2, False)):
        monkeypatch.setattr(paths, "HUB", most)
        way = coded.ask("graph_path", source_uid="one", target_uid="two")["path"]
        assert (called in [node["uid"] for node in way]) is expected, "four edges lead to it"


def test_a_trace_follows_the_calls_in_order(chain: Coded) -> None:
    data = chain.ask("graph_trace", entry_uid="main")
    assert [(s["node"]["label"], s["depth"]) for s in data["steps"]] == [
        ("load", 1), ("parse", 2), ("save", 1),
    ]  # fmt: skip
    outside = chain.ask("graph_trace", entry_uid="main", include_external=True)
    assert labels(outside["steps"]) == ["load", "parse", "missing", "save"]
    cut = chain.ask("graph_trace", entry_uid="main", max_steps=1)
    assert cut["count"] == 1 and cut["total"] > 1 and cut["meta"]["truncated"]


def test_a_trace_through_a_circle_ends(coded: Coded) -> None:
    coded.put(a="def one; call two; def two; call one")
    coded.index()
    steps = coded.ask("graph_trace", entry_uid="one")["steps"]
    assert [(s["node"]["label"], s["seen_before"]) for s in steps] == [
        ("two", False),
        ("one", True),
    ]


# Changes


def test_impact_sorts_what_a_change_reaches_by_how_sure_it_is(chain: Coded) -> None:
    data = chain.ask("graph_impact", uid="parse")
    assert set(labels(data["will_break"]["items"])) == {"load", "main", "test_load"}
    assert data["will_break"]["total"] == 3 and data["should_review"]["total"] == 0
    assert not {"parse.tiny", "app.tiny"} & set(labels(data["will_break"]["items"]))
    up = chain.ask("graph_impact", uid="main", direction="upstream", confidence_min=0.1)
    assert set(labels(up["will_break"]["items"])) == {"load", "save", "parse"}
    assert set(labels(up["context"]["items"])) >= {"missing"}
    assert not set(labels(up["will_break"]["items"])) & {"missing"}


def test_a_way_is_as_sure_as_its_least_sure_edge(coded: Coded) -> None:
    coded.put(a="def one; call two", b="def two; call three", c="def three", d="def three")
    coded.index()
    data = coded.ask("graph_impact", uid="code:external::three", confidence_min=0.1)
    assert data["will_break"]["total"] == 0
    assert {i["node"]["label"]: i["confidence"] for i in data["context"]["items"]} == {
        "two": 0.2, "one": 0.2, "b.tiny": 0.2, "a.tiny": 0.2, ".": 0.2,
    }  # fmt: skip


def test_a_file_counts_with_all_symbols_in_it(chain: Coded) -> None:
    data = chain.ask("graph_impact", uid="store.tiny", depth=1)
    assert data["expanded_from"] == 2
    assert set(labels(data["will_break"]["items"])) == {"main", "test_load"}


def test_a_walk_that_reaches_its_limit_says_so(chain: Coded) -> None:
    data = chain.ask("graph_impact", uid="parse", visit_limit=1)
    assert data["walk_truncated"] and data["meta"]["truncated"] and data["total"] == 1


def test_a_rename_plan_lists_every_place(chain: Coded) -> None:
    (chain.project / "words.tiny").write_text('def words\nx = "load" and "reload"\n')
    chain.index()
    data = chain.ask("graph_rename_plan", uid="load", new_name="save")
    assert [s["uid"] for s in data["call_sites"]["items"]] == [function("app", "main")]
    assert [s["uid"] for s in data["test_references"]["items"]] == [
        function("test_store", "test_load")
    ]
    assert [(s["path"], s["line"]) for s in data["string_literals"]["items"]] == [("words.tiny", 2)]
    assert labels(data["name_taken"]) == ["save"] and data["risk"] == "high"
    assert data["total_sites"] == 3 and data["definition"][0]["line"] == 1
    calm = chain.ask("graph_rename_plan", uid="load", new_name="fetch", check_strings=False)
    assert calm["risk"] == "low" and calm["string_literals"]["total"] == 0


def test_changes_are_found_symbol_by_symbol(chain: Coded) -> None:
    chain.git("init")
    chain.git("add", ".")
    chain.git("commit", "-m", "one")
    calm = chain.ask("graph_detect_changes", root="project")
    assert calm["total"] == 0 and calm["risk_level"] == "none"
    chain.put(text__parse="def parse; call other; def added", fresh="def fresh")
    (chain.project / "test_store.tiny").unlink()
    data = chain.ask("graph_detect_changes", root="project")
    found = {s["uid"]: s["change"] for s in data["symbols"]}
    assert found == {
        function("text/parse", "added"): "added", function("fresh", "fresh"): "added",
        function("test_store", "test_load"): "removed",
    }  # fmt: skip
    assert {f["path"]: f["change"] for f in data["files"]} == {
        "fresh.tiny": "added", "test_store.tiny": "removed", "text/parse.tiny": "modified",
    }  # fmt: skip
    only = chain.ask("graph_detect_changes", root="project", files="fresh.tiny")
    assert only["total"] == 1
    assert chain.ask("graph_detect_changes", root="project", scope="staged")["total"] == 0


def test_commits_are_compared_and_what_depends_on_them_is_listed(chain: Coded) -> None:
    chain.git("init")
    chain.git("add", ".")
    chain.git("commit", "-m", "one")
    chain.put(store="def loaded; call parse; def save")
    chain.git("commit", "-am", "two")
    data = chain.ask("graph_diff", root="project")
    assert {(s["label"], s["change"]) for s in data["symbols"]} == {
        ("load", "removed"), ("loaded", "added"),
    }  # fmt: skip
    assert set(labels(data["downstream"])) == {"main", "test_load"}
    assert data["risk_level"] == "low" and data["downstream_total"] == 2
    with pytest.raises(NotFound, match="no commit"):
        chain.ask("graph_diff", root="project", base="--output=/tmp/x")


def test_a_root_outside_git_is_said_to_be(chain: Coded) -> None:
    with pytest.raises(Unavailable, match="Git repository"):
        chain.ask("graph_detect_changes", root="project")
    with pytest.raises(NotFound, match="no root"):
        chain.ask("graph_diff", root="elsewhere")


# The whole


def test_what_is_alike_is_found_by_words_without_a_model(coded: Coded) -> None:
    coded.put(a="def load_user_name", b="def loadUserName", c="def save_file")
    coded.index()
    data = coded.ask("graph_similar", uid="load_user_name", confidence_min=0.3)
    assert data["match_mode"] == "words" and labels(data["results"]) == ["loadUserName"]


def test_communities_centrality_and_ranks(coded: Coded) -> None:
    coded.put(
        a="def a1; call a2; call a3; def a2; call a3; def a3; call a1",
        b="def b1; call b2; call b3; def b2; call b3; def b3; call b1", bridge="def bridge; call a1",
    )  # fmt: skip
    coded.index()
    communities = coded.ask("graph_communities")
    assert communities["total"] == 2
    assert sorted(c["size"] for c in communities["communities"]) == [3, 4]
    assert coded.ask("graph_communities", min_size=4)["total"] == 1
    central = coded.ask("graph_centrality", metric="in_degree", top=1)
    assert central["results"][0]["label"] in ("a1", "a3", "b3") and central["total"] == 7
    between = coded.ask("graph_centrality", metric="betweenness", top=1)
    assert between["results"][0]["label"] in ("a1", "a3")
    ranked = coded.ask("graph_ranking", query="b1", top=3)
    assert set(labels(ranked["results"])) == {"b1", "b2", "b3"}
    whole = coded.ask("graph_ranking")
    assert whole["total"] == 7
    assert abs(sum(r["value"] for r in whole["results"]) - 1) < 1e-3


def test_cycles_of_calls_are_found(coded: Coded) -> None:
    coded.put(a="def one; call two; def two; call three; def three; call one; def four; call one")
    coded.index()
    data = coded.ask("graph_cycles", scope="calls")
    assert data["total"] == 1 and data["cycles"][0]["size"] == 3
    assert len(data["cycles"][0]["example"]) == 3
    assert coded.ask("graph_cycles", scope="imports")["total"] == 0


def test_dead_code_and_untested_code(chain: Coded) -> None:
    dead = chain.ask("graph_dead_code")
    assert labels(dead["results"]) == ["main"] and dead["total"] == 1
    gap = chain.ask("graph_test_gap", top=1)
    assert gap["count"] == 1 and gap["total"] == 4, "the small language has no edges to tests"


@pytest.mark.parametrize("form", ["json", "mermaid", "dot"])
def test_the_graph_is_exported(chain: Coded, form: str) -> None:
    data = chain.ask("graph_export", format=form, root_uid="main", max_nodes=3)
    assert data["node_count"] == 3 and data["node_total"] > 3 and data["meta"]["truncated"]
    if form == "json":
        assert labels(data["nodes"])[0] == "main" and data["edges"][0]["kind"] == "calls"
    else:
        assert "function main" in data["text"] and "calls" in data["text"]


# Health


def issues(data: dict[str, Any]) -> dict[str, int]:
    return {issue["category"]: issue["count"] for issue in data["issues"]}


def test_a_fresh_graph_is_healthy(chain: Coded) -> None:
    data = chain.ask("graph_doctor")
    assert data["healthy"] and data["issue_count"] == 0
    assert issues(data) == {"unresolved": 1} and data["issues"][0]["informational"]
    assert data["roots"]["project"] == str(chain.project)


def test_the_doctor_finds_and_mends_what_is_wrong(chain: Coded) -> None:
    (chain.project / "app.tiny").unlink()
    db = opening.backend(chain.box.ws).database
    db.execute("INSERT INTO edge SELECT 9999, target, kind, extractor, 1.0, 1, signals, 0 FROM edge "
               "ORDER BY source LIMIT 1")  # fmt: skip
    key = db.value("SELECT key FROM node WHERE label = 'save'")
    db.execute("DELETE FROM edge WHERE target = ? AND kind = (SELECT id FROM term WHERE text = "
               "'contains')", (key,))  # fmt: skip
    db.execute("INSERT INTO node (root, uid, kind, label, signature, summary, roles, more, stub) "
               "SELECT root, 'code:function:../x::y', 'function', 'y', '', '', '', '', 0 FROM node "
               "LIMIT 1")  # fmt: skip
    data = chain.ask("graph_doctor")
    assert not data["healthy"]
    assert issues(data).keys() >= {"stale_paths", "dangling_source", "orphaned", "malformed_uids"}
    with pytest.raises(ScopeDenied):
        chain.ask("graph_doctor", Caller("reader", scopes=frozenset({"read"})), fix=True)
    mended = chain.ask("graph_doctor", fix=True)
    assert mended["healthy"] and mended["fixed"], mended["issues"]


def test_errors_of_files_are_told(chain: Coded) -> None:
    chain.put(bad="broken")
    report = chain.index()["reports"]
    assert sum(r["failed"] for r in report) == 1
    data = chain.ask("graph_doctor")
    assert data["healthy"] and issues(data)["files_with_parse_errors"] == 1


# Indexing


def test_indexing_says_what_was_done_to_each_root(coded: Coded) -> None:
    coded.put(a="def one")
    first, second = coded.index(), coded.index()
    assert {r["root"]: r["read"] for r in first["reports"]} == {"vault": 0, "project": 1}
    assert {r["root"]: (r["read"], r["skipped"]) for r in second["reports"]} == {
        "vault": (0, 0), "project": (0, 1),
    }  # fmt: skip
    forced = coded.index(root="project", force=True)
    assert [r["read"] for r in forced["reports"]] == [1]


def test_a_part_of_a_root_is_indexed(coded: Coded) -> None:
    coded.put(a="def one", b="def two")
    coded.index(root="project", paths=["b.tiny"])
    assert coded.ask("graph_resolve", q="two")["total"] == 1
    assert coded.ask("graph_resolve", q="one")["total"] == 0
    for path in ("../a", "/etc/passwd", "a/../../b"):
        with pytest.raises(InvalidArgument, match="not a path from a root"):
            coded.index(root="project", paths=[path])
    with pytest.raises(NotFound, match="no root"):
        coded.index(root="zz")


def test_a_root_that_is_no_longer_listed_is_forgotten(chain: Coded) -> None:
    config = chain.box.root / ".vault-kg/vault.toml"
    config.write_text(config.read_text().partition("[[graph.roots]]")[0])
    data = chain.index()
    assert data["counts"]["nodes"].get("function", 0) == 0


def test_indexing_never_waits_for_the_vaults_lane(coded: Coded) -> None:
    coded.put(a="def one")
    with coded.box.ws.lane.hold():
        assert coded.index()["reports"]


def test_indexing_can_be_cancelled_and_goes_on(coded: Coded) -> None:
    coded.put(a="def one")
    caller = Caller("tester", cancelled=lambda: True)
    with pytest.raises(Exception, match="cancelled"):
        coded.ask("graph_index", caller)
    assert coded.index()["counts"]["nodes"]["function"] == 1


def test_hidden_partitions_do_not_exist_in_the_graph(coded: Coded) -> None:
    for partition, text in (("main", "def open; call closed"), ("secret", "def closed; call open")):
        path = coded.box.root / f"{partition}/pages/code.tiny"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("; ", "\n"))
    coded.index()
    public = Caller("public", partitions=frozenset({"main"}))
    assert coded.ask("graph_references", uid="open")["total"] == 1
    for name, arguments in (
        ("graph_references", {"uid": "open"}), ("graph_context", {"uid": "open", "depth": 3}),
        ("graph_impact", {"uid": "open"}), ("graph_resolve", {"q": "closed"}),
        ("graph_query", {"q": "closed"}), ("graph_export", {}), ("graph_doctor", {}),
        ("graph_dead_code", {}), ("graph_centrality", {}), ("graph_trace", {"entry_uid": "open"}),
    ):  # fmt: skip
        said = str(coded.ask(name, public, **arguments)).replace(str(arguments), "")
        assert "secret" not in said and "::closed" not in said, name


def test_the_graph_is_beside_the_state_and_no_part_of_the_vault(chain: Coded, folder: Path) -> None:
    assert (chain.box.root / ".vault-kg/graph.sqlite").is_file()
    assert not [path for path in chain.box.files() if "graph" in path]


def test_an_answer_that_is_too_long_is_asked_for_again_with_fewer_nodes(coded: Coded) -> None:
    names = " ".join(f"; call f{n}; call g{n}; call h{n}" for n in range(60))
    coded.put(a=f"def main{names}")
    coded.index()
    asked = []

    def ask(arguments: dict[str, Any]) -> dict[str, Any]:
        asked.append(arguments)
        return coded.box.call("graph_export", **arguments)

    found = registry.operations()["graph_export"]
    answer = fitting(found, {"max_nodes": 500}, ask, 10_000)
    assert 1 <= answer["data"]["node_count"] < 181 and answer["data"]["meta"]["truncated"]
    assert len(asked) < 6


def test_an_answer_is_of_one_moment_whatever_is_indexed_meanwhile(
    chain: Coded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the walk and the look at what it reached, another process forgets the whole root."""
    expected = chain.ask("graph_impact", uid="parse")

    def walked(*arguments: Any) -> Any:
        found = walk(*arguments)
        other = SqliteBackend(opening.path_of(chain.box.ws))
        with other.writing():
            for root in other.roots():
                other.forget_root(root)
        other.close()
        return found

    monkeypatch.setattr(impact, "walk", walked)
    assert chain.ask("graph_impact", uid="parse") == expected
    monkeypatch.undo()
    assert chain.ask("graph_impact", uid="parse") != expected
