from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.errors import InvalidArgument, UnsafePath
from vault_kg.store import git_tree
from vault_kg.store.git_objects import object_id
from vault_kg.store.git_tree import PLAIN, Entry, Tree, Trees
from vault_kg.store.git_trees import TreeEditor, find_entry, split_path

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
    return TreeEditor(objects, Trees(20), lambda path: PLAIN)


def made(entries: dict[bytes, Entry]) -> bytes:
    return Tree([], []).replace(entries).to_bytes()


def flat(objects: Objects, tree: str, prefix: str = "") -> dict[str, str]:
    files: dict[str, str] = {}
    for name, entry in Tree.parse(objects.read(tree), 20):
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
    data = made(entries)
    assert dict(Tree.parse(data, 20)) == entries
    assert Tree.parse(data, 20).to_bytes() == data


@settings(deadline=None)
@given(
    st.dictionaries(NAMES.map(str.encode), st.sampled_from([b"40000", PLAIN]), max_size=6),
    st.dictionaries(NAMES.map(str.encode), st.none() | st.sampled_from([b"40000", PLAIN])),
)
def test_a_tree_with_names_replaced_is_the_tree_made_of_the_result(modes, edits):
    tree = Tree.parse(made({name: Entry(mode, "1" * 40) for name, mode in modes.items()}), 20)
    edited = tree.replace({n: Entry(m, "2" * 40) if m else None for n, m in edits.items()})
    left = {n: Entry(m, "1" * 40) for n, m in modes.items() if n not in edits}
    left |= {n: Entry(m, "2" * 40) for n, m in edits.items() if m}
    assert edited.to_bytes() == made(left) and len(edited) == len(left)
    assert {name: edited.get(name) for name in left} == left
    assert edited.get(b"nowhere") is None
    assert {name: tree.get(name) for name in modes} == {
        n: Entry(m, "1" * 40) for n, m in modes.items()
    }


def test_a_tree_of_another_order_is_read_and_what_is_none_is_refused():
    pieces = [b"100644 %s\0%s" % (name, b"\1" * 20) for name in (b"b", b"a", b"c")]
    tree = Tree.parse(b"".join(pieces), 20)
    assert [name for name, _ in tree] == [b"a", b"b", b"c"] and tree.get(b"a") is not None
    for broken in (b"x", pieces[0][:-1], pieces[0] + b"100644 b\0", b"rubbish" + pieces[0]):
        with pytest.raises(ValueError, match="tree"):
            Tree.parse(broken, 20)


def test_known_trees_are_not_read_again_and_are_let_go_of_when_they_are_many(monkeypatch):
    objects, trees = Objects(), Trees(20)
    oids = [objects.add("tree", made({b"%d" % n: Entry(PLAIN, "1" * 40)})) for n in range(5)]
    read: list[str] = []

    def reading(oid: str) -> bytes:
        read.append(oid)
        return objects.read(oid)

    monkeypatch.setattr(git_tree, "_KEPT_ENTRIES", 3)
    for oid in (*oids[:3], *oids[:3]):
        assert trees.get(oid, reading).to_bytes() == objects.read(oid)
    assert read == oids[:3]
    trees.get(oids[3], reading)
    trees.get(oids[0], reading)
    assert read == [*oids[:4], oids[0]]


def test_entries_are_in_the_order_of_git():
    entries = {
        b"a0": Entry(PLAIN, "1" * 40),
        b"a": Entry(b"40000", "1" * 40),
        b"a.b": Entry(PLAIN, "1" * 40),
        b"a-": Entry(PLAIN, "1" * 40),
    }
    assert [name for name, _ in Tree.parse(made(entries), 20)] == [b"a-", b"a.b", b"a", b"a0"]


def test_a_change_that_changes_nothing_keeps_the_tree_and_writes_nothing():
    objects = Objects()
    tree, _ = editor(objects).apply(None, [("x/a", "1" * 40)])
    kept = len(objects.kept)
    same, changes = editor(objects).apply(tree, [("x/a", "1" * 40), ("y/b", None), ("x", None)])
    assert (same, changes, len(objects.kept)) == (tree, [], kept)


def test_a_folder_with_the_mode_of_an_old_writer_is_a_folder():
    objects = Objects()
    inner = objects.add("tree", made({b"a": Entry(PLAIN, "1" * 40)}))
    outer = objects.add("tree", made({b"x": Entry(b"040000", inner)}))

    def parsed(oid: str) -> Tree:
        return Tree.parse(objects.read(oid), 20)

    assert find_entry(parsed, outer, b"x/a") == Entry(PLAIN, "1" * 40)
    tree, _ = editor(objects).apply(outer, [("x/b", "2" * 40)])
    assert flat(objects, tree) == {"x/a": "1" * 40, "x/b": "2" * 40}


def test_a_submodule_is_neither_entered_nor_removed():
    objects = Objects()
    tree = objects.add("tree", made({b"sub": Entry(b"160000", "1" * 40)}))
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
