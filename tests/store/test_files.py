"""Reading vault files, and the single steps of installing one."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.errors import UnsafePath
from vault_kg.store import files
from vault_kg.store.files import Found


@pytest.fixture(params=["exchange", "no-exchange", "no-links"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "exchange":
        monkeypatch.setattr(files, "_exchanger", lambda: None)
    if request.param == "no-links":
        monkeypatch.setattr(os, "link", _refuse)
    return str(request.param)


def _refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_a_file_is_read_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.md").write_bytes(b"\xef\xbb\xbfx\r\n\0")
    assert files.read(tmp_path, "a/b.md") == b"\xef\xbb\xbfx\r\n\0"
    assert files.read(tmp_path, "a/none.md") is None
    assert files.read(tmp_path, "a/b.md/below.md") is None


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "large"])
def test_what_is_no_record_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(tmp_path / "other")
    else:
        with path.open("wb") as handle:
            handle.truncate(files.MAX_RECORD_BYTES + 1)
    descriptors = Path("/proc/self/fd")
    opened = len(list(descriptors.iterdir())) if descriptors.is_dir() else 0
    for _ in range(3):
        with pytest.raises(UnsafePath):
            files.read(tmp_path, "x.md")
    if opened:
        assert len(list(descriptors.iterdir())) == opened, "no descriptor is left open"
    assert files.stamp(tmp_path, "x.md") is None or kind == "large"
    assert files.look(path).special == (kind != "large")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a\0b", "linked/x"])
def test_a_stamp_is_of_a_file_of_the_vault_or_none(tmp_path: Path, path: str) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (tmp_path / "x").write_text("outside")
    (root / "linked").symlink_to(tmp_path)
    assert files.stamp(root, path) is None


def test_a_stamp_tells_every_way_of_saving_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    first = files.stamp(tmp_path, "a.md")
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    beside = tmp_path / "b"
    beside.write_bytes(b"two")
    os.utime(beside, ns=times)
    beside.replace(path)
    second = files.stamp(tmp_path, "a.md")
    assert first is not None and second is not None
    assert (first.size, first.mtime_ns) == (second.size, second.mtime_ns)
    assert first != second


def test_two_files_get_each_others_names(tmp_path: Path, platform: str) -> None:
    prepared, target = tmp_path / "tmp-1", tmp_path / "a.md"
    prepared.write_bytes(b"new")
    target.write_bytes(b"old")
    files.swap(prepared, target)
    assert (target.read_bytes(), prepared.read_bytes()) == (b"new", b"old")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.md", "tmp-1"]


def test_without_a_target_the_prepared_file_stays(tmp_path: Path, platform: str) -> None:
    prepared = tmp_path / "tmp-1"
    prepared.write_bytes(b"new")
    with pytest.raises(FileNotFoundError):
        files.swap(prepared, tmp_path / "a.md")
    assert prepared.read_bytes() == b"new"


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_file_is_exchanged_unharmed(tmp_path: Path, platform: str, kind: str) -> None:
    prepared, target = tmp_path / "tmp-1", tmp_path / "a.md"
    prepared.write_bytes(b"new")
    if kind == "folder":
        target.mkdir()
        (target / "inside").write_text("mine")
    elif kind == "link":
        target.symlink_to("elsewhere")
    else:
        os.mkfifo(target)
    files.swap(prepared, target)
    assert files.look(target) == Found(b"new")
    assert files.look(prepared) == Found(special=True)
    files.swap(prepared, target)
    assert files.look(prepared) == Found(b"new")
    assert files.look(target) == Found(special=True)
    if kind == "folder":
        assert (target / "inside").read_text() == "mine"


def test_a_taken_name_is_not_taken_over(tmp_path: Path, platform: str) -> None:
    source, target = tmp_path / "s", tmp_path / "t"
    source.write_bytes(b"new")
    target.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        files.place(source, target)
    assert (source.read_bytes(), target.read_bytes()) == (b"new", b"old")
    target.unlink()
    files.place(source, target)
    assert target.read_bytes() == b"new"


@given(content=st.binary(max_size=200_000))
@settings(max_examples=20, deadline=None)
def test_a_file_is_whole_as_soon_as_it_has_its_name(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("whole")
    path = folder / "deep" / "t"
    seen: list[bytes] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            if path.exists():
                seen.append(path.read_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    files.write_complete(path, content, path)
    stop.set()
    watcher.join()
    assert path.read_bytes() == content
    assert set(seen) <= {content}
    assert [p.name for p in path.parent.iterdir()] == ["t"]


def test_folders_are_made_and_named(tmp_path: Path) -> None:
    made = files.make_folder(tmp_path / "a/b/c", tmp_path)
    assert [p.relative_to(tmp_path).as_posix() for p in made] == ["a/b/c", "a/b", "a"]
    assert files.make_folder(tmp_path / "a/b/c", tmp_path) == []


@given(st.binary(max_size=1000))
def test_the_object_id_is_that_of_git(content: bytes) -> None:
    from vault_kg.store.git_objects import object_id

    assert files.blob_id(content) == object_id("blob", content, "sha1")
