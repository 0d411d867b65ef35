from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.errors import InvalidArgument, UnsafePath
from vault_kg.store.git_objects import object_id
from vault_kg.store.git_trees import (
    PLAIN,
    Entry,
    TreeEditor,
    find_entry,
    format_tree,
    parse_tree,
    split_path,
)

NAMES = st.sampled_from(["a", "b", "a.b", "a0", "a-", "é", "z"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
BLOBS = st.integers(1, 3).map(lambda n: f"{n:040d}")


class Objects:
    """Objects in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def add(self, kind: str, data: bytes) -> str:
        oid = object_id(kind, data)
        self.kept[oid] = data
        return oid

    def read(self, oid: str) -> bytes:
        return self.kept[oid]


def editor(objects: Objects) -> TreeEditor:
    return TreeEditor(objects, 20, lambda path: PLAIN)


def flat(objects: Objects, tree: str, prefix: str = "") -> dict[str, str]:
    files: dict[str, str] = {}
    for name, entry in parse_tree(objects.read(tree), 20).items():
        path = prefix + name.decode()
        if entry.is_folder:
            assert entry.oid != object_id("tree", b""), "an empty folder was kept"
            files |= flat(objects, entry.oid, path + "/")
        else:
            files[path] = entry.oid
    return files


def model(files: dict[str, str], edits: dict[str, str | None]) -> dict[str, str]:
    for path, blob in edits.items():
        if blob is None:
            files.pop(path, None)
    for path, blob in edits.items():
        if blob is not None:
            files = {
                p: b
                for p, b in files.items()
                if not p.startswith(path + "/") and not path.startswith(p + "/")
            }
            files[path] = blob
    return files


@settings(deadline=None, max_examples=300)
@given(st.lists(st.dictionaries(PATHS, st.none() | BLOBS, max_size=6), max_size=5))
def test_a_tree_holds_what_was_set_and_not_what_was_removed(steps):
    objects, tree, files = Objects(), None, {}
    for edits in steps:
        set_paths = [path for path, blob in edits.items() if blob]
        both = any(p.startswith(q + "/") for p in set_paths for q in set_paths)
        if both:
            with pytest.raises(InvalidArgument):
                editor(objects).apply(tree, list(edits.items()))
            continue
        before = dict(files)
        tree, changes = editor(objects).apply(tree, list(edits.items()))
        files = model(files, edits)
        assert flat(objects, tree) == files
        told = {
            change.path.decode(): (
                change.before and change.before.oid,
                change.after and change.after.oid,
            )
            for change in changes
        }
        assert told == {
            path: (before.get(path), files.get(path))
            for path in before.keys() | files.keys()
            if before.get(path) != files.get(path)
        }


@given(st.dictionaries(NAMES.map(str.encode), st.sampled_from([b"40000", PLAIN, b"120000"])))
def test_reading_a_tree_and_writing_it_again_gives_the_same_bytes(modes):
    entries = {name: Entry(mode, "1" * 40) for name, mode in modes.items()}
    data = format_tree(entries)
    assert parse_tree(data, 20) == entries
    assert format_tree(parse_tree(data, 20)) == data


def test_entries_are_in_the_order_of_git():
    entries = {
        b"a0": Entry(PLAIN, "1" * 40),
        b"a": Entry(b"40000", "1" * 40),
        b"a.b": Entry(PLAIN, "1" * 40),
        b"a-": Entry(PLAIN, "1" * 40),
    }
    assert list(parse_tree(format_tree(entries), 20)) == [b"a-", b"a.b", b"a", b"a0"]


def test_a_change_that_changes_nothing_keeps_the_tree_and_writes_nothing():
    objects = Objects()
    tree, _ = editor(objects).apply(None, [("x/a", "1" * 40)])
    kept = len(objects.kept)
    same, changes = editor(objects).apply(tree, [("x/a", "1" * 40), ("y/b", None), ("x", None)])
    assert (same, changes, len(objects.kept)) == (tree, [], kept)


def test_a_folder_with_the_mode_of_an_old_writer_is_a_folder():
    objects = Objects()
    inner = objects.add("tree", format_tree({b"a": Entry(PLAIN, "1" * 40)}))
    outer = objects.add("tree", format_tree({b"x": Entry(b"040000", inner)}))
    assert find_entry(objects.read, outer, b"x/a", 20) == Entry(PLAIN, "1" * 40)
    tree, _ = editor(objects).apply(outer, [("x/b", "2" * 40)])
    assert flat(objects, tree) == {"x/a": "1" * 40, "x/b": "2" * 40}


def test_a_submodule_is_neither_entered_nor_removed():
    objects = Objects()
    tree = objects.add("tree", format_tree({b"sub": Entry(b"160000", "1" * 40)}))
    for path, blob in (("sub/a", "2" * 40), ("sub", None), ("sub/a", None)):
        assert editor(objects).apply(tree, [(path, blob)]) == (tree, [])


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "a/",
        "/a",
        "..",
        "a/../b",
        ".",
        "a\0b",
        ".git",
        "x/.gIt/y",
        "GIT~1",
        ".git.",
        ".git  ",
        ".git::$INDEX_ALLOCATION",
        ".g\u200cit",
        ".git\\x",
        "a\\.git",
    ],
)
def test_a_path_that_passes_for_a_repository_or_leaves_the_tree_is_unsafe(path):
    with pytest.raises(UnsafePath):
        split_path(path)


@pytest.mark.parametrize(
    "path", [".gitignore", "a.git", ".github/x", "git", "a\\b", "...", "git~2"]
)
def test_a_path_that_only_looks_like_one_is_not(path):
    assert b"/".join(split_path(path)).decode() == path
