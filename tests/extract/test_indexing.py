"""Indexing a tree: what is read, what is kept, what is removed, over every backend."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.extract.tiny import Tiny, Tree
from tests.operations.builder import as_an_ordinary_person
from vault_kg.extract import reading
from vault_kg.extract.backends.protocol import GraphBackend


def test_symbols_calls_and_folders_are_in_the_graph(tree: Tree) -> None:
    tree.put(pkg__a="def one; call two", pkg__b="def two; call nothing")
    report = tree.index()
    assert (report.read, report.skipped, report.failed) == (2, 0, 0)
    assert tree.uids() == {
        "folder:.", "folder:pkg", "code:file:pkg/a.tiny", "code:file:pkg/b.tiny",
        "code:function:pkg/a.tiny::one", "code:function:pkg/b.tiny::two",
    }  # fmt: skip
    assert tree.calls() == {("one", "two"), ("two", "nothing?")}


def test_indexing_twice_reads_nothing_and_changes_nothing(tree: Tree) -> None:
    tree.put(a="def one; call two", b="def two")
    tree.index()
    before = list(tree.graph.reader(None).every_edge()), list(tree.graph.reader(None).every_node())
    report = tree.index()
    again = tree.index(force=True)
    assert report.read == 0 and report.linked == 0 and again.read == 2
    after = list(tree.graph.reader(None).every_edge()), list(tree.graph.reader(None).every_node())
    assert after == before


def test_an_edge_from_another_file_stands_when_its_target_is_read_again(tree: Tree) -> None:
    tree.put(a="def one; call two", b="def two")
    tree.index()
    tree.put(b="def zero; def two")
    assert tree.index().read == 1
    assert ("one", "two") in tree.calls()


def test_what_left_a_file_is_gone_and_calls_of_it_lead_to_a_stub(tree: Tree) -> None:
    tree.put(a="def one; call two", b="def two; def three")
    tree.index()
    tree.put(b="def three")
    tree.index()
    assert "code:function:b.tiny::two" not in tree.uids()
    assert tree.calls() == {("one", "two?")}


def test_a_stub_becomes_the_symbol_when_exactly_one_fits(tree: Tree) -> None:
    tree.put(a="def one; call two")
    tree.index()
    assert tree.calls() == {("one", "two?")}
    tree.put(b="def two")
    tree.index()
    assert tree.calls() == {("one", "two")}
    assert not any(row.stub for row in tree.graph.reader(None).every_node())
    tree.put(c="def two")
    tree.index()
    assert tree.calls() == {("one", "two?")}, "two fit, so that neither does"


def test_a_deleted_file_is_gone_with_its_folder(tree: Tree) -> None:
    tree.put(pkg__deep__a="def one", b="def two; call one")
    tree.index()
    (tree.root.folder / "pkg/deep/a.tiny").unlink()
    report = tree.index()
    assert report.removed == 1
    assert tree.uids() == {"folder:.", "code:file:b.tiny", "code:function:b.tiny::two"}
    assert tree.graph.states("code").keys() == {"b.tiny"}


def test_what_an_alias_stands_for_is_followed_when_it_changes(tree: Tree) -> None:
    tree.put(a="def run; call go of api", api="alias go first", b="def first", c="def second")
    tree.index()
    assert tree.calls() == {("run", "first")}
    tree.put(api="alias go second")
    tree.index()
    assert tree.calls() == {("run", "second")}
    tree.put(c="def third")
    tree.index()
    assert tree.calls() == {("run", "second?")}
    tree.put(d="def second")
    tree.index()
    assert tree.calls() == {("run", "second")}


def test_a_file_that_cannot_be_parsed_keeps_what_was_known_of_it(tree: Tree) -> None:
    tree.put(a="def one; call two", b="def two")
    tree.index()
    tree.put(b="def two; broken")
    assert tree.index().failed == 1
    assert tree.calls() == {("one", "two")}
    state = tree.graph.state("code", "b.tiny")
    assert state is not None and state.error == "line 1: broken" and state.hash != state.tried
    tree.tiny.extracted.clear()
    assert tree.index().failed == 0 and tree.tiny.extracted == [], "it has not changed"


def test_a_mended_file_of_the_same_size_and_second_is_read(tree: Tree) -> None:
    tree.put(a="def broken")
    path = tree.root.folder / "a.tiny"
    at = path.stat().st_mtime_ns
    assert tree.index().failed == 1
    path.write_text("def whole1\n")
    os.utime(path, ns=(at, at))
    assert path.stat().st_size == len("def broken\n")
    assert tree.index().read == 1
    state = tree.graph.state("code", "a.tiny")
    assert state is not None and state.error is None and state.hash == state.tried
    assert "code:function:a.tiny::whole1" in tree.uids()


def test_a_touched_file_is_hashed_and_not_extracted(tree: Tree) -> None:
    tree.put(a="def one")
    tree.index()
    os.utime(tree.root.folder / "a.tiny", (1_700_000_000, 1_700_000_000))
    tree.tiny.extracted.clear()
    report = tree.index()
    assert (report.read, report.skipped, tree.tiny.extracted) == (0, 1, [])


def test_a_new_version_of_the_extractor_reads_everything_again(tree: Tree) -> None:
    tree.put(a="def one", b="def two")
    tree.index()
    tree.tiny = Tiny(version=2)
    assert tree.index().read == 2


def test_single_files_and_folders_can_be_indexed(tree: Tree) -> None:
    tree.put(a="def one", pkg__b="def two", pkg__c="def three")
    tree.index("a.tiny")
    assert "code:function:a.tiny::one" in tree.uids() and "folder:pkg" not in tree.uids()
    tree.index("pkg")
    assert "code:function:pkg/c.tiny::three" in tree.uids()
    (tree.root.folder / "pkg/c.tiny").unlink()
    assert tree.index("pkg/c.tiny").removed == 1
    for path in (tree.root.folder / "pkg").iterdir():
        path.unlink()
    (tree.root.folder / "pkg").rmdir()
    tree.index("pkg")
    assert tree.uids() == {"folder:.", "code:file:a.tiny", "code:function:a.tiny::one"}


def test_ignored_files_links_and_tool_folders_are_left_out(tree: Tree) -> None:
    tree.put(a="def one", build__b="def two", node_modules__c="def three", keep="def kept")
    (tree.root.folder / ".gitignore").write_text("build/\n/keep.tiny\n")
    (tree.root.folder / "link.tiny").symlink_to("a.tiny")
    (tree.root.folder / "loop").symlink_to(".", target_is_directory=True)
    tree.index()
    assert tree.graph.states("code").keys() == {"a.tiny"}
    tree.index("build/b.tiny", "keep.tiny", "link.tiny", "node_modules/c.tiny", "../outside.tiny")
    assert tree.graph.states("code").keys() == {"a.tiny"}
    (tree.root.folder / ".gitignore").write_text("a.tiny\n")
    tree.index()
    assert tree.graph.states("code").keys() == {"build/b.tiny", "keep.tiny"}


def test_a_submodule_is_part_of_the_tree_with_its_own_ignores(tree: Tree) -> None:
    tree.put(sub__a="def one", sub__gen="def two")
    (tree.root.folder / "sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    (tree.root.folder / "sub/.gitignore").write_text("gen.tiny\n")
    tree.index()
    assert tree.graph.states("code").keys() == {"sub/a.tiny"}


def test_a_file_of_more_than_two_megabytes_is_noted_and_not_read(tree: Tree) -> None:
    tree.put(big="def big\n" + "call x\n" * 300_000)
    report = tree.index()
    state = tree.graph.state("code", "big.tiny")
    assert report.failed == 1 and state is not None and "2,000,000" in str(state.error)
    assert tree.tiny.extracted == []


def test_a_folder_that_cannot_be_listed_keeps_its_files(tree: Tree, tmp_path: Path) -> None:
    tree.put(a="def one", shut__b="def two")
    tree.index()
    (tree.root.folder / "shut").chmod(0)
    with as_an_ordinary_person(tmp_path):
        report = tree.index()
        some = tree.index("shut")
        one = tree.index("shut/b.tiny")
    (tree.root.folder / "shut").chmod(0o755)
    assert report.unlisted == 1 and report.removed == 0 and some.removed == 0
    assert one.unlisted == 1 and one.removed == 0
    assert "code:function:shut/b.tiny::two" in tree.uids()


def test_a_file_that_changes_while_it_is_read_is_left_for_the_next_time(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.put(a="def one")
    read = reading.files.read

    def meanwhile(root: Path, path: str, limit: int) -> bytes | None:
        content = read(root, path, limit)
        (root / path).write_text("def other" + str(len(tree.tiny.extracted)))
        os.utime(root / path, ns=(1, (root / path).stat().st_mtime_ns + 7))
        return content

    monkeypatch.setattr(reading.files, "read", meanwhile)
    report = tree.index()
    assert (report.read, report.unlisted) == (0, 1) and tree.graph.states("code") == {}
    monkeypatch.undo()
    assert tree.index().read == 1


def test_a_run_that_is_broken_off_goes_on_where_it_was(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.put(a="def one; call two", b="def two")

    def power_cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("vault_kg.extract.filing._link_some", power_cut)
        with pytest.raises(KeyboardInterrupt):
            tree.index()
    assert tree.calls() == set()
    report = tree.index()
    assert report.read == 0 and tree.calls() == {("one", "two")}


def test_files_of_a_partition_are_seen_by_those_who_see_it(
    graph: GraphBackend, tmp_path: Path
) -> None:
    tree = Tree(tmp_path / "vault", graph, "vault")
    tree.put(main__pages__a="def open; call hidden", secret__pages__b="def hidden; call open")
    tree.put(main__sources__abc__s="def source")
    tree.index()
    assert "code:function:main/sources/abc/s.tiny::source" not in tree.uids()
    seen = graph.reader(frozenset({"main"}))
    assert {row.node.label for row in seen.every_node()} >= {"open", "a.tiny"}
    assert not {row.node.label for row in seen.every_node()} & {"hidden", "b.tiny"}
    assert "calls" not in seen.counts()["edges"]


def test_everything_in_a_git_checkout_is_followed_through_a_branch_switch(tree: Tree) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
            cwd=tree.root.folder, check=True, capture_output=True,
        )  # fmt: skip

    git("init", "-b", "one")
    tree.put(a="def one; call two", b="def two")
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    (tree.root.folder / "b.tiny").unlink()
    tree.put(c="def three")
    git("add", "-A")
    git("commit", "-m", "other")
    tree.index()
    assert tree.calls() == {("one", "two?")}
    git("checkout", "one")
    tree.index()
    assert tree.calls() == {("one", "two")}
    assert "code:function:c.tiny::three" not in tree.uids()
