"""Files are stamped alike by the interpreter and without it, and a walk takes what it is told."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.index import stamping, walk
from vault_kg.store.files import Stamp

Ways = Callable[[Path, list[str]], "array[int]"]

needs_native = pytest.mark.skipif(
    stamping._native() is None, reason="no compiler was there when the package was installed"
)


def by_native(folder: Path, paths: list[str]) -> array[int]:
    return stamping.stamps(folder, paths)


@pytest.fixture(
    params=[pytest.param(by_native, marks=needs_native), stamping._by_one], ids=["native", "one"]
)
def stamps(request: pytest.FixtureRequest) -> Ways:
    way: Ways = request.param
    return way


def test_each_file_has_the_stamp_of_its_own(tmp_path: Path, stamps: Ways) -> None:
    count = 3 * stamping._PART + 7
    paths = [f"{n % 3}/{n}.md" for n in range(count)]
    for n, path in enumerate(paths):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x" * (n % 50))
        os.utime(file, ns=(0, n * 1_000_000_007))

    found = stamps(tmp_path, paths)

    assert [Stamp(*found[4 * n : 4 * n + 4]) for n in range(count)] == [
        Stamp.of((tmp_path / path).lstat()) for path in paths
    ]


def test_what_is_no_file_of_its_own_is_nothing(tmp_path: Path, stamps: Ways) -> None:
    (tmp_path / "real.md").write_text("here")
    (tmp_path / "link.md").symlink_to("real.md")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")

    found = stamps(tmp_path, ["link.md", "folder.md", "pipe.md", "gone.md", "real.md/below.md"])

    assert list(found) == [*stamping.NOTHING] * 5


def test_no_paths_have_no_stamps(tmp_path: Path, stamps: Ways) -> None:
    assert list(stamps(tmp_path, [])) == []


def test_times_before_1970_and_long_after_are_told(tmp_path: Path, stamps: Ways) -> None:
    file = tmp_path / "old.md"
    file.touch()
    for when in (-1, -86_400_000_000_001, 4_102_444_800_123_456_789):
        os.utime(file, ns=(when, when))
        assert list(stamps(tmp_path, ["old.md"]))[1] == file.lstat().st_mtime_ns


@needs_native
@settings(max_examples=40)
@given(
    names=st.lists(
        st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)
        .filter(lambda name: name not in (".", ".."))
        .filter(lambda name: len(name.encode()) < 200),
        max_size=8,
        unique=True,
    )
)
def test_any_name_is_found_in_both_ways(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    for name in names:
        (folder / name).write_text(name)

    assert by_native(folder, names) == stamping._by_one(folder, names)
    assert stamping.NOTHING[0] not in stamping.columns(stamping._by_one(folder, names))[0]


def test_the_inode_of_a_file_system_that_makes_it_of_a_hash_can_be_stored() -> None:
    found = os.stat_result((0o100644, 2**64 - 5, 1, 1, 0, 0, 3, 0, 0, 0))

    assert 0 <= Stamp.of(found).inode < 2**63


def test_what_goes_or_changes_while_a_walk_looks_is_not_taken_for_a_file(tmp_path: Path) -> None:
    for name in ("gone.md", "kept.md", "turned.md"):
        (tmp_path / name).write_text(name)

    def named(name: str, prefix: str) -> bool:
        if name == "gone.md":
            (tmp_path / name).unlink()
        if name == "turned.md":
            (tmp_path / name).unlink()
            (tmp_path / name).symlink_to("kept.md")
        return True

    found = walk.walk(tmp_path, named)

    assert list(found.files) == ["kept.md"]
    assert found.files["kept.md"] == Stamp.of((tmp_path / "kept.md").lstat())
    assert {path: problem.code for path, problem in found.problems.items()} == {
        "gone.md": "unreadable",
        "turned.md": "symlink",
    }
    assert not found.complete("gone.md"), "the next walk, which does not list it, tells"


def test_a_pipe_that_is_called_like_a_note_is_named_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    found = walk.walk(tmp_path)
    assert not found.files
    assert [problem.code for problem in found.problems.values()] == ["unreadable"]


def test_of_a_vault_that_goes_while_a_walk_looks_nothing_is_taken_for_deleted(
    tmp_path: Path,
) -> None:
    root = tmp_path / "vault"
    (root / "main").mkdir(parents=True)
    (root / "one.md").touch()
    (root / "main/two.md").touch()

    def named(name: str, prefix: str) -> bool:
        if prefix == "main/":
            root.rename(tmp_path / "elsewhere")
        return True

    found = walk.walk(root, named)

    assert not found.files
    assert not any(found.complete(path) for path in ("one.md", "main/two.md"))


def test_a_walk_is_told_apart_by_any_name_and_any_stamp(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "b.md").write_text("two")
    before = walk.walk(tmp_path).digest()
    assert walk.walk(tmp_path).digest() == before

    (tmp_path / "b.md").rename(tmp_path / "c.md")
    renamed = walk.walk(tmp_path).digest()
    os.utime(tmp_path / "c.md", ns=(5, 5))

    assert len({before, renamed, walk.walk(tmp_path).digest()}) == 3
