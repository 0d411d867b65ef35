from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.store.git_index_file import UNMERGED, IndexFile
from vault_kg.store.git_tree import PLAIN, Entry

NAMES = st.sampled_from(["a", "b", "a.b", "a0", "a-", "é", "long" * 8])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.integers(1, 9), max_size=12)
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.fixture(scope="module")
def repository():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git(root, "init", "-q")
        git(root, "hash-object", "-w", "--stdin")
        yield root


def git(root: Path, *arguments: str, data: bytes = b"") -> bytes:
    done = subprocess.run(["git", *arguments], cwd=root, input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make(root: Path, files: dict[str, int], cached_trees: bool = False) -> bytes:
    """Have Git make an index of files, all of them empty; the numbers are their modes' choice."""
    (root / ".git" / "index").unlink(missing_ok=True)
    lines = "".join(f"100{'644' if n % 2 else '755'} {EMPTY_BLOB}\t{p}\0" for p, n in files.items())
    git(root, "update-index", "-z", "--index-info", data=lines.encode())
    if cached_trees and files:
        git(root, "read-tree", git(root, "write-tree").decode().strip())
    return (root / ".git" / "index").read_bytes() if files else b""


def listed(root: Path, data: bytes) -> dict[str, str]:
    """Have Git list an index, and check its checksum and its cached trees."""
    (root / ".git" / "index").write_bytes(data)
    assert hashlib.sha1(data[:-20]).digest() == data[-20:]
    output = git(root, "ls-files", "--stage", "-z").decode()
    tree = git(root, "write-tree").decode().strip()
    by_tree = git(root, "ls-tree", "-r", "-z", "--format=%(path)", tree).decode().split("\0")[:-1]
    lines = [line.partition("\t") for line in output.split("\0")[:-1]]
    assert [path for _, _, path in lines] == by_tree
    return {path: about[:6] for about, _, path in lines}


def without_clashes(files: dict[str, int]) -> dict[str, int]:
    return {p: n for p, n in files.items() if not any(q.startswith(p + "/") for q in files)}


@settings(max_examples=25, deadline=None)
@given(files=FILES, edits=st.dictionaries(PATHS, st.none() | st.just(1), max_size=5))
def test_git_reads_an_edited_index_as_if_it_had_edited_it(repository, files, edits):
    files = without_clashes(files)
    sets = without_clashes({path: n for path, n in edits.items() if n})
    edits = {path: n for path, n in edits.items() if n is None or path in sets}
    kept = {path: n for path, n in files.items() if path not in edits}
    clashing = {p for p in sets for q in kept if q.startswith(p + "/") or p.startswith(q + "/")}
    edits = {path: n for path, n in edits.items() if path not in clashing}
    index = IndexFile(make(repository, files, cached_trees=True), "sha1", 20)
    for path, number in files.items():
        mode = b"100644" if number % 2 else b"100755"
        assert index.entry(path.encode()) == Entry(mode, EMPTY_BLOB)
    new = Entry(PLAIN, EMPTY_BLOB)
    edited = index.replace({p.encode(): (new, None) if n else None for p, n in edits.items()})
    data = edited.data
    read = IndexFile(data if files or sets else b"", "sha1", 20)
    more = {b"b/zz": (new, None), b"a0": None}
    assert edited.replace(more).data == read.replace(more).data, "as if it had been read anew"
    expected = {p: "100644" if n % 2 else "100755" for p, n in kept.items()}
    expected |= {path: "100644" for path, number in edits.items() if number}
    assert listed(repository, data) == dict(sorted(expected.items(), key=lambda i: i[0].encode()))


def test_trees_that_hold_no_edited_path_stay_cached(repository):
    files = {"a/x/1": 1, "a/y/2": 1, "b/3": 1, "4": 1}
    index = IndexFile(make(repository, files, cached_trees=True), "sha1", 20)
    data = index.replace({b"a/x/new": (Entry(PLAIN, EMPTY_BLOB), None)}).data
    cached = data[data.index(b"TREE") + 8 : -20]
    assert cached.startswith(b"\0-1 2\na\0-1 2\nx\0-1 0\ny\0001 0\n")
    assert b"b\0001 0\n" in cached


def test_what_is_known_of_a_file_is_kept_as_git_keeps_it(repository, tmp_path):
    content = b"some content\n"
    (repository / "file.md").write_bytes(content)
    (repository / ".git" / "index").unlink(missing_ok=True)
    git(repository, "add", "file.md")
    by_git = (repository / ".git" / "index").read_bytes()
    oid = git(repository, "hash-object", "file.md").decode().strip()
    known = os.lstat(repository / "file.md")
    ours = IndexFile(b"", "sha1", 20).replace({b"file.md": (Entry(PLAIN, oid), known)}).data
    assert ours[:12] == by_git[:12]
    assert ours[12:84] == by_git[12:84]


def test_a_path_longer_than_the_length_field_is_found(repository):
    path = "/".join(["d" * 200] * 25)
    index = IndexFile(make(repository, {path: 1, "z": 1}), "sha1", 20)
    assert index.entry(path.encode()) == Entry(PLAIN, EMPTY_BLOB)
    data = index.replace({(path + "x").encode(): (Entry(PLAIN, EMPTY_BLOB), None)}).data
    assert list(listed(repository, data)) == [path, path + "x", "z"]


def test_a_conflict_and_the_intent_to_add_are_told_from_entries(repository):
    lines = "".join(f"100644 {EMPTY_BLOB} {stage}\tc.md\n" for stage in (1, 2, 3))
    make(repository, {"a.md": 1})
    git(repository, "update-index", "--index-info", data=lines.encode())
    (repository / "meant.md").write_bytes(b"x")
    git(repository, "add", "--intent-to-add", "meant.md")
    index = IndexFile((repository / ".git" / "index").read_bytes(), "sha1", 20)
    assert index.entry(b"c.md").mode == UNMERGED
    assert index.entry(b"meant.md") is None
    assert index.entry(b"a.md") == Entry(PLAIN, EMPTY_BLOB)


def test_files_below_a_path_are_found(repository):
    files = {"a/b": 1, "a/c/d": 1, "a.x": 1, "a0": 1}
    index = IndexFile(make(repository, files), "sha1", 20)
    assert list(index.inside(b"a")) == [b"a/b", b"a/c/d"]
    assert list(index.inside(b"z")) == []


@pytest.mark.parametrize("cut", [1, 11, 15, 40, 83, 100, -1, -20, -21])
def test_a_broken_index_is_refused(repository, cut):
    data = make(repository, {"a.md": 1, "b.md": 1}, cached_trees=True)
    with pytest.raises(ValueError):
        IndexFile(data[:cut], "sha1", 20)


def test_a_kind_that_is_not_edited_here_is_refused(repository):
    make(repository, {"a.md": 1})
    git(repository, "update-index", "--index-version", "4")
    with pytest.raises(ValueError, match="version"):
        IndexFile((repository / ".git" / "index").read_bytes(), "sha1", 20)
