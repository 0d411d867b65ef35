from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from vault_kg.store.flushing import Hardening
from vault_kg.store.git_layout import find_layout
from vault_kg.store.git_objects import StagedObjects, explaining, object_id
from vault_kg.store.git_process import Git, GitPending, GitUnavailable, ObjectReader


def run(root: Path, *arguments: str, data: bytes = b"") -> bytes:
    done = subprocess.run(["git", *arguments], cwd=root, input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["sha1", "sha256"])
def git(request, tmp_path: Path) -> Git:
    run(tmp_path, "init", "-q", f"--object-format={request.param}")
    return Git(tmp_path)


@pytest.fixture
def staged(git: Git):
    layout, reader = find_layout(git), ObjectReader(git)
    assert layout is not None
    yield StagedObjects(layout, reader)
    reader.close()


@pytest.mark.parametrize("content", [b"", b"text\r\n", b"\0\xff" * 1000])
def test_an_object_is_named_as_git_names_it(git, staged, content):
    named = run(git.root, "hash-object", "--stdin", data=content).decode().strip()
    assert staged.add("blob", content) == named


@pytest.mark.parametrize("count", [3, 600])
def test_what_is_written_can_be_read_by_git_however_much_it_is(git, staged, count):
    contents = [b"x" * (n * 7) + b"%d" % n for n in range(count)]
    names = [staged.add("blob", content) for content in contents]
    assert staged.read(names[1]) == contents[1]
    staged.write(git).wait()
    for name, content in list(zip(names, contents, strict=True))[:: count // 3]:
        assert run(git.root, "cat-file", "blob", name) == content
        assert staged.read(name) == content
    run(git.root, "fsck", "--strict")
    loose = int(run(git.root, "count-objects").split()[0])
    assert loose == (count if count < 256 else 0)


def test_a_pack_that_git_refuses_is_written_object_by_object(git, staged):
    names = [staged.add("blob", b"%d" % n) for n in range(300)]
    broken = git.root / ".git" / "objects" / names[7][:2] / names[7][2:]
    broken.parent.mkdir(exist_ok=True)
    broken.write_bytes(b"")
    staged.write(git).wait()
    assert staged.read(names[7]) == b"7"
    run(git.root, "fsck", "--strict")


@pytest.mark.skipif(os.name != "posix", reason="needs permissions of POSIX")
@pytest.mark.parametrize(("folder", "file"), [(0o755, 0o444), (0o700, 0o400), (0o2770, 0o440)])
def test_an_object_may_be_read_by_whoever_may_read_the_repository(git, staged, folder, file):
    (git.root / ".git" / "objects").chmod(folder)
    name = staged.add("blob", b"1")
    staged.write(git).wait()
    path = git.root / ".git" / "objects" / name[:2] / name[2:]
    assert path.stat().st_mode & 0o7777 == file
    assert path.parent.stat().st_mode & 0o7777 == folder


def test_no_temporary_file_is_left(git, staged):
    staged.add("blob", b"1")
    staged.write(git).wait()
    assert list((git.root / ".git" / "objects").rglob("tmp_obj*")) == []


def test_a_lost_object_is_named(staged):
    with pytest.raises(GitUnavailable, match="has lost the object 1111"):
        staged.read("1" * 40)


def test_what_cannot_be_flushed_is_told(tmp_path):
    (tmp_path / "there").touch()
    with pytest.raises(FileNotFoundError):
        Hardening([tmp_path / "there", tmp_path / "gone"]).wait()


@pytest.mark.parametrize(
    ("number", "refusal", "reason"),
    [
        (errno.ENOSPC, GitPending, "disk_full"),
        (errno.EDQUOT, GitPending, "disk_full"),
        (errno.EACCES, GitUnavailable, "no_permission"),
        (errno.EROFS, GitUnavailable, "no_permission"),
        (errno.EIO, GitUnavailable, "git_failed"),
    ],
)
def test_an_error_of_the_disk_becomes_the_refusal_it_means(tmp_path, number, refusal, reason):
    with pytest.raises(refusal) as refused, explaining(tmp_path):
        raise OSError(number, os.strerror(number))
    assert refused.value.reason == reason
    assert str(tmp_path) in refused.value.message


def test_the_name_of_a_known_object_is_known():
    assert object_id("blob", b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert object_id("tree", b"") == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
