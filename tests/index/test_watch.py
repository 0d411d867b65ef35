"""Watching: what is saved in an editor is in the index right after, however it is saved."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from watchfiles import watch as plain_watch

from tests.operations.builder import VaultBox
from vault_kg.index import watch as watching
from vault_kg.index.watch import watch
from vault_kg.store.lane import Lane

PATIENCE = 20.0


class Watching:
    """A vault that is being watched, and what the watcher told."""

    def __init__(self, box: VaultBox) -> None:
        self.box = box
        self.told: list[str] = []
        self.scans = 0
        self.trouble: list[str] = []

    def changed(self, paths: list[str]) -> None:
        self.told += paths
        self.scans += not paths

    def until(self, condition) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, (self.told, self.trouble)
            time.sleep(0.005)

    def path(self, record: str) -> str | None:
        found: str | None = self.box.ws.database.value(
            "SELECT path FROM record WHERE id = ?", (record,)
        )
        return found

    def hash(self, path: str) -> str | None:
        found: str | None = self.box.ws.database.value(
            "SELECT hash FROM file WHERE path = ?", (path,)
        )
        return found


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultBox]:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    made = VaultBox(tmp_path / "vault")
    yield made
    made.ws.close()


@pytest.fixture(autouse=True, params=["here", "apart"])
def _where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch in this process, and in one of its own as where there are many folders."""
    monkeypatch.setattr(watching, "FEW_FOLDERS", 1 << 30 if request.param == "here" else -1)


@contextmanager
def watched(box: VaultBox) -> Iterator[Watching]:
    seen = Watching(box)
    stop = threading.Event()
    thread = threading.Thread(target=watch, args=(box.ws, stop, seen.changed, seen.trouble.append))
    thread.start()
    box.put("warm-up.md", "# Warm-up\n")
    try:
        seen.until(lambda: seen.told or seen.scans)
        seen.told.clear()
        yield seen
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_save_is_indexed_and_told_with_its_path(box: VaultBox) -> None:
    box.put("notes/old.md", "# Old\n")  # a folder that is new itself is told by a scan
    with watched(box) as seen:
        box.put("notes/new.md", "# New\n")
        seen.until(lambda: "notes/new.md" in seen.told)
        before = seen.hash("notes/new.md")
        box.put("notes/new.md", "# Newer\n")
        seen.until(lambda: seen.hash("notes/new.md") != before)


def test_a_save_by_rename_is_a_change_and_no_deletion(box: VaultBox) -> None:
    page = box.page("Ada", body="old")
    path = box.path(page)
    with watched(box) as seen:
        temporary = path.with_name(f".{path.name}.swp")
        temporary.write_bytes(path.read_bytes().replace(b"old", b"new"))
        temporary.replace(path)
        seen.until(lambda: box.get(page)["revision"] == 2)
        assert box.get(page)["body"] == "new"
        assert [r["operation"] for r in box.history(page)] == ["observe", "knowledge_save_page"]


def test_our_own_writes_are_no_edits(box: VaultBox) -> None:
    with watched(box) as seen:
        page = box.page("Ada")
        box.change(page, summary="hers")
        time.sleep(0.5)
        assert [r["operation"] for r in box.history(page)] == [
            "knowledge_save_page", "knowledge_save_page",
        ]  # fmt: skip
        assert seen.told == []


def test_a_deleted_file_and_a_moved_file_are_seen(box: VaultBox) -> None:
    gone, moved = box.page("Gone"), box.page("Moved")
    with watched(box) as seen:
        box.path(gone).unlink()
        seen.until(lambda: box.findings(section="missing"))
        target = box.root / "main" / "pages" / "elsewhere.md"
        box.path(moved).rename(target)
        seen.until(lambda: seen.path(moved) == "main/pages/elsewhere.md")
        assert box.get(moved)["revision"] == 1


def test_a_folder_that_comes_or_goes_is_scanned(box: VaultBox, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "a.md").write_text("# A\n")
    with watched(box) as seen:
        shutil.move(outside, box.root / "inside")
        seen.until(lambda: seen.hash("inside/deep/a.md"))
        (box.root / "inside").rename(box.root / "renamed")
        seen.until(lambda: seen.hash("renamed/deep/a.md") and not seen.hash("inside/deep/a.md"))
        shutil.rmtree(box.root / "renamed")
        seen.until(lambda: not seen.hash("renamed/deep/a.md"))


def test_skipped_and_ignored_places_are_left_alone(box: VaultBox) -> None:
    box.put(".gitignore", "private/\n")
    with watched(box) as seen:
        for path in (".obsidian/a.md", "node_modules/x/b.md", "private/c.md", "picture.png"):
            box.put(path, "# Not for us\n")
        box.put("last.md", "# Last\n")
        seen.until(lambda: seen.hash("last.md"))
        known = [path for (path,) in box.ws.database.rows("SELECT path FROM file")]
        assert [p for p in known if p.startswith((".obsidian", "node_modules", "private"))] == []


def test_a_changed_gitignore_and_a_changed_vocabulary_count_at_once(box: VaultBox) -> None:
    box.put(".gitignore", "private/\n")
    box.put("private/c.md", "# Private\n")
    with watched(box) as seen:
        assert seen.hash("private/c.md") is None
        box.put(".gitignore", "other/\n")
        seen.until(lambda: seen.hash("private/c.md"))
        page = box.page("Jacquard", "Loom")
        assert box.findings("undeclared_type")
        box.put("ontology.yaml", "page_types:\n  Loom: {description: It weaves.}\n")
        seen.until(lambda: not box.findings("undeclared_type"))
        assert box.get(page)["type"] == "Loom"


def test_an_edit_during_a_long_write_is_taken_in_after_it(box: VaultBox) -> None:
    with watched(box) as seen:
        writer = Lane(box.ws.vault.private / "lane.lock")
        with writer.hold():
            box.put("while.md", "# While\n")
            time.sleep(0.4)
            assert seen.hash("while.md") is None
        seen.until(lambda: seen.hash("while.md"))


def test_what_changed_before_the_watching_began_is_taken_in(box: VaultBox) -> None:
    box.put("before.md", "# Before\n")
    with watched(box) as seen:
        seen.until(lambda: seen.hash("before.md"))


def test_where_nothing_can_be_watched_the_vault_is_scanned_at_intervals(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watching.watched, "watch_files", refuse)
    monkeypatch.setattr(watching.watched, "_start", refuse)
    monkeypatch.setattr(watching, "SCAN_SECONDS", 0.05)
    with watched(box) as seen:
        box.put("later.md", "# Later\n")
        seen.until(lambda: seen.hash("later.md"))
        assert "looked at every" in seen.trouble[0]


def test_where_the_process_that_watches_ends_the_vault_is_scanned_at_intervals(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = watching.watched._start

    def noted(root: Path) -> subprocess.Popen[str]:
        started.append(start(root))
        return started[0]

    monkeypatch.setattr(watching, "FEW_FOLDERS", -1)
    monkeypatch.setattr(watching.watched, "_start", noted)
    monkeypatch.setattr(watching, "SCAN_SECONDS", 0.05)
    with watched(box) as seen:
        started[0].kill()
        seen.until(lambda: seen.trouble)
        assert "has ended" in seen.trouble[0]
        box.put("later.md", "# Later\n")
        seen.until(lambda: seen.hash("later.md"))


def test_scans_at_intervals_rest_the_longer_the_longer_they_take(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("OS file watch limit reached")

    scans, scan = [], box.ws.scan

    def slow(progress: object = None, *, aside: bool = False) -> object:
        scans.append(time.monotonic())
        time.sleep(0.1)
        return scan()

    monkeypatch.setattr(watching.watched, "watch_files", refuse)
    monkeypatch.setattr(watching.watched, "_start", refuse)
    monkeypatch.setattr(watching, "SCAN_SECONDS", 0.01)
    monkeypatch.setattr(box.ws, "scan", slow)
    with watched(box) as seen:
        seen.until(lambda: len(scans) > 2)
        assert min(b - a for a, b in zip(scans, scans[1:], strict=False)) > 0.9


_LEFT_OPEN = """
import subprocess, sys, threading
from pathlib import Path
from vault_kg.index import watched

process = watched._start(Path(sys.argv[1]))
watched._start = lambda root: process
stop = threading.Event()
events = watched.apart(Path(sys.argv[1]), stop)

def read():
    try:
        for _ in events:
            begun.set()
    except OSError as error:
        print(error)

if sys.argv[2] == "open":
    next(events)
else:
    begun = threading.Event()
    threading.Thread(target=read, daemon=True).start()
    begun.wait(20)
print(process.pid)
"""


@pytest.mark.parametrize("how", ["open", "read by a daemon"])
def test_who_ends_while_it_watches_ends_well_and_so_does_the_process_beside(
    box: VaultBox, how: str
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _LEFT_OPEN, box.root, how],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(run.stdout), 0)


def test_the_process_that_watches_ends_with_the_one_that_reads(box: VaultBox) -> None:
    process = watching.watched._start(box.root)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(PATIENCE) is not None


def test_a_save_is_searchable_soon_after_the_system_reports_it(box: VaultBox) -> None:
    """At most about twice the time until watchfiles itself reports, and room for a busy host."""

    def reported(number: int) -> float:
        stop = threading.Event()
        seen = threading.Event()

        def look() -> None:
            for changes in plain_watch(
                box.root, stop_event=stop, rust_timeout=200, yield_on_timeout=True
            ):
                if any(path.endswith(f"plain-{number}.md") for _, path in changes):
                    seen.set()
                    return

        thread = threading.Thread(target=look)
        thread.start()
        time.sleep(0.3)
        began = time.perf_counter()
        box.put(f"plain-{number}.md", "# Plain\n")
        assert seen.wait(PATIENCE)
        took = time.perf_counter() - began
        stop.set()
        thread.join()
        return took

    baseline = statistics.median(reported(n) for n in range(5))
    taken = []
    with watched(box) as seen:
        for number in range(7):
            time.sleep(0.2)
            began = time.perf_counter()
            box.put(f"ours-{number}.md", "# Ours\n")
            seen.until(lambda n=number: seen.hash(f"ours-{n}.md"))
            taken.append(time.perf_counter() - began)
    assert statistics.median(taken) <= 2 * baseline + 0.25, (taken, baseline)
    print(f"reported {baseline:.3f} s, searchable {statistics.median(taken):.3f} s")
