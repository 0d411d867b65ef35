"""A tree that nothing happened to is seen at a glance, and whatever happened to it is seen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.extract.tiny import SUFFIX, Tiny, Tree
from vault_kg.extract import filing, glance, reading

YOUNG = 50_000_000
"""In the place of two seconds, so that a test need not wait for so long."""


@pytest.fixture
def settled(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A tree that was indexed when its times were old."""
    monkeypatch.setattr(glance, "RACY_NS", YOUNG)
    monkeypatch.setattr(reading, "RACY_NS", YOUNG)
    tree.put(a="def one; call two", pkg__b="def two", pkg__deep__c="def three", out__d="def four")
    (tree.root.folder / ".gitignore").write_text("/out/\n")
    settle(tree)
    return tree


def settle(tree: Tree) -> None:
    time.sleep(2 * YOUNG / 1e9)
    tree.index()
    tree.index()


def refuse(*_: object) -> None:
    raise AssertionError("the tree was listed")


def test_an_unchanged_tree_is_not_listed_again(
    settled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glance.walk, "walk", refuse)
    report = settled.index()
    assert (report.listed, report.skipped, report.read, report.unlisted) == (3, 3, 0, 0)


def test_a_changed_file_is_read_without_listing_the_tree(
    settled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glance.walk, "walk", refuse)
    settled.put(pkg__b="def zwei")
    report = settled.index()
    assert (report.listed, report.skipped, report.read) == (3, 2, 1)
    assert settled.calls() == {("one", "two?")}


def add(folder: Path) -> None:
    (folder / "pkg/new.tiny").write_text("def new\n")


def add_below(folder: Path) -> None:
    (folder / "pkg/deep/x/y").mkdir(parents=True)
    (folder / "pkg/deep/x/y/new.tiny").write_text("def new\n")


def delete(folder: Path) -> None:
    (folder / "pkg/deep/c.tiny").unlink()


def rename(folder: Path) -> None:
    (folder / "pkg/deep").rename(folder / "pkg/shallow")


def become_a_link(folder: Path) -> None:
    (folder / "a.tiny").unlink()
    (folder / "a.tiny").symlink_to("pkg/b.tiny")


def be_saved_with_its_old_times(folder: Path) -> None:
    file = folder / "a.tiny"
    found = file.stat()
    file.write_text(file.read_text().replace("one", "uno"))
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert file.stat().st_size == found.st_size


def be_replaced_with_its_old_times(folder: Path) -> None:
    file, other = folder / "a.tiny", folder / "a.part"
    found = file.stat()
    other.write_text(file.read_text().replace("one", "uno"))
    other.replace(file)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def ignore_more(folder: Path) -> None:
    (folder / ".gitignore").write_text("/out/\n/pkg/deep/\n")


def ignore_less(folder: Path) -> None:
    (folder / ".gitignore").write_text("# nothing\n")


def ignore_no_more(folder: Path) -> None:
    (folder / ".gitignore").unlink()


def ignore_from_within(folder: Path) -> None:
    (folder / "pkg/.gitignore").write_text("b.tiny\n")


HAPPENINGS = [
    add, add_below, delete, rename, become_a_link, be_saved_with_its_old_times,
    be_replaced_with_its_old_times, ignore_more, ignore_less, ignore_no_more, ignore_from_within,
]  # fmt: skip


@pytest.mark.parametrize("happen", HAPPENINGS, ids=lambda happen: happen.__name__)
def test_whatever_happens_to_a_settled_tree_is_seen(
    settled: Tree, happen: Callable[[Path], None], tmp_path: Path
) -> None:
    happen(settled.root.folder)
    settled.index()
    followed = settled.uids(), settled.calls()
    settled.graph.forget_root("code")
    assert settled.index().read == len(settled.graph.states("code"))
    assert (settled.uids(), settled.calls()) == followed
    settle(settled)
    assert (settled.uids(), settled.calls()) == followed


def test_ignores_behind_a_link_mean_nothing_as_for_git(settled: Tree, tmp_path: Path) -> None:
    (tmp_path / "ignores").write_text("/pkg/\n")
    (settled.root.folder / ".gitignore").unlink()
    (settled.root.folder / ".gitignore").symlink_to(tmp_path / "ignores")
    settle(settled)
    every = set(settled.graph.states("code"))
    assert {"a.tiny", "out/d.tiny"} < every and any(path.startswith("pkg/") for path in every)
    (tmp_path / "ignores").write_text("/out/\n")
    settled.index()
    assert set(settled.graph.states("code")) == every


def test_another_version_of_the_extractor_is_seen(settled: Tree) -> None:
    settled.tiny = Tiny(version=2)
    assert settled.index().read == 3


def test_files_that_something_reads_from_now_on_are_seen(settled: Tree) -> None:
    (settled.root.folder / "pkg/e.wee").write_text("def five\n")
    settle(settled)
    assert "pkg/e.wee" not in settled.graph.states("code")
    settled.extractor_for = lambda path: (  # type: ignore[method-assign]
        settled.tiny if path.endswith((SUFFIX, ".wee")) else None
    )
    assert settled.index().read == 1 and "pkg/e.wee" in settled.graph.states("code")


def test_a_root_that_moved_into_this_one_is_seen(settled: Tree) -> None:
    settled.root = replace(settled.root, inner=("pkg",))
    assert settled.index().removed == 2 and settled.graph.states("code").keys() == {"a.tiny"}


def test_a_tree_whose_times_are_young_is_listed_and_hashed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.put(a="def one", b="def two")
    for _ in range(3):
        tree.index()
    calls = []
    walk = glance.walk.walk
    monkeypatch.setattr(glance.walk, "walk", lambda *a: calls.append(a) or walk(*a))  # type: ignore[func-returns-value]
    looks = []
    look = reading.files.read
    monkeypatch.setattr(reading.files, "read", lambda *a: looks.append(a) or look(*a))  # type: ignore[func-returns-value]
    tree.index()
    assert len(calls) == 1 and len(looks) == 2


def test_what_could_not_be_read_is_tried_again(
    settled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk refuses")

    with monkeypatch.context() as patch:
        patch.setattr(reading.files, "read", fail)
        assert settled.index(force=True).failed == 3
    report = settled.index()
    assert (report.read, report.failed, report.skipped) == (3, 0, 0)
    states = settled.graph.states("code").values()
    assert len(states) == 3 and all(state.error is None for state in states)


def test_what_waits_to_be_resolved_is_resolved_though_the_tree_is_the_same(
    settled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(filing, "_link_some", refuse)
        with pytest.raises(AssertionError):
            settled.index(force=True)
            settled.graph.wake_nodes(list(settled.graph.keys_at("code", "a.tiny").values()))
            settled.index()
    monkeypatch.setattr(glance.walk, "walk", refuse)
    report = settled.index()
    assert report.skipped == 3 and settled.calls() == {("one", "two")}


@pytest.mark.parametrize(
    "listing", ["[", "3", "{}", "[[], [], [], []]", '[1, {}, [], [], [], ""]', "[2]"]
)
def test_a_listing_of_another_shape_is_none(settled: Tree, listing: str) -> None:
    stored = settled.graph.stored("code")
    with settled.graph.writing():
        settled.graph.put_stored("code", stored._replace(listing=listing))
    report = settled.index()
    assert (report.listed, report.read) == (3, 0)
    assert settled.graph.stored("code") == stored


def test_other_rules_of_what_is_listed_are_seen(
    settled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(glance.walk, "SKIPPED", glance.walk.SKIPPED | {"deep"})
        assert settled.index().removed == 1
    settle(settled)
    calls = []
    walk = glance.walk.walk
    monkeypatch.setattr(glance.walk, "walk", lambda *a: calls.append(a) or walk(*a))  # type: ignore[func-returns-value]
    monkeypatch.setattr(glance, "VERSION", glance.VERSION + 1)
    settled.index()
    settled.index()
    assert len(calls) == 1
