"""Where a touched file went: told by a real Git, or by its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from vault_kg.errors import Cancelled
from vault_kg.maintain.chores import anchors


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q")

    def git(self, *arguments: str) -> None:
        settings = (
            "-c",
            "user.name=P",
            "-c",
            "user.email=p@example.org",
            "-c",
            "commit.gpgSign=false",
        )
        subprocess.run(
            ["git", *settings, *arguments], cwd=self.root, check=True, capture_output=True
        )

    def write(self, path: str, text: str | None = None) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text or "".join(f"line {n} of {path}\n" for n in range(20)))

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "A change.")

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)
        self.commit()

    def resolve(self, touch: str) -> tuple[str, str | None]:
        (found,) = anchors.resolve([touch], str(self.root))
        return found.verdict, found.replacement


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("src/a.py")
    made.commit()
    return made


def test_a_rename_that_git_recorded(project: Project) -> None:
    project.move("src/a.py", "lib/b.py")
    assert project.resolve("src/a.py") == ("moved", "lib/b.py")
    assert project.resolve("src/a.py:main") == ("moved", "lib/b.py:main")
    assert project.resolve(f"{project.root}/src/a.py") == ("moved", "lib/b.py")


def test_a_file_renamed_three_times_is_found_and_four_times_is_not_known(project: Project) -> None:
    for old, new in (("src/a.py", "b.py"), ("b.py", "c.py"), ("c.py", "d.py")):
        project.move(old, new)
    assert project.resolve("src/a.py") == ("moved", "d.py")
    project.move("d.py", "e.py")
    assert project.resolve("src/a.py") == ("unknown", None)


def test_a_deletion_outranks_another_file_of_that_name(project: Project) -> None:
    (project.root / "src/a.py").unlink()
    project.commit()
    project.write("other/a.py", "nothing alike\n")
    project.commit()
    assert project.resolve("src/a.py") == ("gone", None)


def test_a_move_that_was_not_committed_is_told_by_the_only_file_of_that_name(
    project: Project,
) -> None:
    (project.root / "lib").mkdir()
    (project.root / "src/a.py").rename(project.root / "lib/a.py")
    assert project.resolve("src/a.py") == ("moved", "lib/a.py")
    project.write("copy/a.py")
    assert project.resolve("src/a.py") == ("ambiguous", None)


def test_what_nothing_tells_of_is_not_known(project: Project) -> None:
    for touch in ("never/was.py", "../outside.py", "/etc/none.conf", "~/none", ""):
        assert project.resolve(touch) == ("unknown", None)
    assert [one.verdict for one in anchors.resolve(["src/a.py"], None)] == ["unknown"]


def test_a_tree_too_large_to_look_through_tells_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.root / "src/a.py").rename(project.root / "a.py")
    monkeypatch.setattr(anchors, "MAX_ENTRIES", 1)
    assert project.resolve("src/a.py") == ("unknown", None)


def test_a_folder_without_git(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("x")
    (found,) = anchors.resolve(["src/a.py"], str(tmp_path))
    assert found.replacement == "lib/a.py"


def test_names_that_git_would_quote_or_take_for_options(project: Project) -> None:
    for name in ("-x.py", "Ærø 島.py", 'a"b.py'):
        project.write(name)
        project.commit()
        project.git("mv", "--", name, f"moved {name}")
        project.commit()
        assert project.resolve(name) == ("moved", f"moved {name}")


def test_a_folder_that_was_deleted(project: Project) -> None:
    project.git("rm", "-qr", "src")
    project.commit()
    assert project.resolve("src") == ("gone", None)


def test_many_touches_are_answered_each_for_itself(project: Project) -> None:
    for name in ("gone.py", "old.py", "kept.py"):
        project.write(name)
    project.commit()
    project.move("old.py", "new.py")
    project.git("rm", "-q", "gone.py")
    project.commit()
    (project.root / "kept.py").rename(project.root / "src/kept.py")
    asked = ["gone.py", "never.py", "old.py:run", "kept.py", "/etc/none", "old.py"]
    found = anchors.resolve(asked, str(project.root))
    assert [(one.touch, one.verdict, one.replacement) for one in found] == [
        ("gone.py", "gone", None), ("never.py", "unknown", None),
        ("old.py:run", "moved", "new.py:run"), ("kept.py", "moved", "src/kept.py"),
        ("/etc/none", "unknown", None), ("old.py", "moved", "new.py"),
    ]  # fmt: skip


def counting_git(folder: Path, monkeypatch: pytest.MonkeyPatch, then: str = "") -> Path:
    """Put a Git before the real one that notes each start."""
    real, said = shutil.which("git"), folder / "started"
    script = folder / "bin/git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$@" >> {said}\n{then}\nexec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return said


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for Git")
def test_git_is_started_once_for_all_that_it_does_not_know(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = counting_git(tmp_path, monkeypatch)
    anchors.resolve([f"src/{n}.py" for n in range(200)], str(project.root))
    assert len(started.read_text().splitlines()) == 1


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for Git")
def test_a_git_that_does_not_answer_is_not_waited_for(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.root / "src/a.py").rename(project.root / "a.py")
    counting_git(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(anchors, "GIT_SECONDS", 0.2)
    began = time.monotonic()
    (found,) = anchors.resolve(["src/a.py"], str(project.root))
    assert found.replacement == "a.py" and time.monotonic() - began < 20


def test_it_can_be_taken_back(project: Project) -> None:
    with pytest.raises(Cancelled):
        anchors.resolve(["src/b.py"], str(project.root), lambda: True)
