"""Scanning: what is looked at, what counts as changed, and that an error removes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.operations.builder import VaultBox, as_an_ordinary_person, made_id, record_file
from tests.operations.conftest import fast_folder
from vault_kg.index import indexer, looking, readers, stamped, walk, walk_apart
from vault_kg.operations.workspace import Workspace


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultBox]:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    with fast_folder() as folder:
        made = VaultBox(Path(folder) / "vault")
        yield made
        made.ws.close()


def indexed(box: VaultBox) -> set[str]:
    return {path for (path,) in box.ws.database.rows("SELECT path FROM file")}


def hash_of(box: VaultBox, path: str) -> str | None:
    found: str | None = box.ws.database.value("SELECT hash FROM file WHERE path = ?", (path,))
    return found


def found(box: VaultBox, query: str) -> set[str]:
    return {hit["path"] for hit in box.call("knowledge_search", query=query)["hits"]}


# What is looked at


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.md", True),
        ("deep/er/A.MD", True),
        ("a.txt", False),
        ("a.markdown", False),
        ("ontology.yaml", True),
        ("main/ontology.yaml", True),
        ("main/pages/ontology.yaml", False),
        (".git/a.md", False),
        ("sub/.obsidian/a.md", False),
        (".trash/a.md", False),
        ("x/node_modules/y/a.md", False),
        (".vault-kg/a.md", False),
        (".hidden.md", True),
        ("main/sources/abc/source.yaml", True),
        ("main/sources/abc/notes.md", False),
        ("main/sources/source.yaml", False),
        ("sources/a.md", True),
    ],
)
def test_markdown_descriptors_and_vocabularies_are_looked_at(
    tmp_path: Path, path: str, expected: bool
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("text")
    assert walk.wanted(path) is expected
    assert set(walk.walk(tmp_path).files) == ({path} if expected else set())


NAMES = st.sampled_from(["a", "b", "c d", "x"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
PATTERNS = st.lists(
    st.sampled_from(
        [
            "a",
            "b/",
            "/a",
            "*.md",
            "!a.md",
            "a/*",
            "a/**",
            "**/x.md",
            "!/b/a.md",
            "c d",
            "[ab].md",
            "# comment",
            "",
            "\\#x",
            "b/*/x.md",
            "!x/",
            "/*",
            "!/a/",
            "!a/x.md",
            "**/b/**",
            "**",
            "**/",
            "/**",
            "a.md",
            "x ",
            "x\\",
            "!",
            "\\",
            "[z-a]",
            "[",
            "a\r",
        ]
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(st.sets(PATHS, min_size=1, max_size=8), PATTERNS, PATTERNS, NAMES)
@example({"a/x.md", "a/b.md"}, ["a/**", "!a/x.md"], [], "a")
@example({"a/a.md"}, ["a/**", "!/a/"], [], "a")
def test_gitignore_excludes_what_git_excludes(
    tmp_path_factory: pytest.TempPathFactory,
    paths: set[str],
    above: list[str],
    below: list[str],
    folder: str,
) -> None:
    root = tmp_path_factory.mktemp("ignored")
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text")
    (root / ".gitignore").write_text("\n".join(above))
    if (root / folder).is_dir():
        (root / folder / ".gitignore").write_text("\n".join(below))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    listing = ["git", "ls-files", "-z", "--others", "--exclude-standard", "*.md"]
    done = subprocess.run(listing, cwd=root, check=True, capture_output=True)
    expected = {name for name in done.stdout.decode().split("\0") if name}
    assert set(walk.walk(root).files) == expected
    assert {path for path in paths if not walk.ignored(root, path)} == expected
    shutil.rmtree(root)


def test_a_link_is_reported_and_not_followed(box: VaultBox, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("kiwi")
    (box.root / "file.md").symlink_to(outside / "secret.md")
    (box.root / "folder").symlink_to(outside)
    box.scan()
    assert found(box, "kiwi") == set()
    assert [f["path"] for f in box.findings("symlink")] == ["file.md"]
    (box.root / "file.md").unlink()
    box.put("file.md", "kiwi")
    box.scan()
    assert found(box, "kiwi") == {"file.md"} and box.findings("symlink") == []


def test_a_name_that_is_not_text_is_reported_and_harms_nothing(box: VaultBox) -> None:
    box.put("good.md", "kiwi")
    bad = os.fsencode(box.root) + b"/b\xe9d.md"
    os.close(os.open(bad, os.O_CREAT | os.O_WRONLY))
    box.scan()
    assert found(box, "kiwi") == {"good.md"}
    assert [f["path"] for f in box.findings("unreadable")] == ["b\ufffdd.md"]


def test_a_file_that_is_too_large_is_reported_and_the_rest_is_indexed(box: VaultBox) -> None:
    box.put("large.md", b"kiwi " * 2_200_000)
    box.put("small.md", "kiwi")
    box.scan()
    assert found(box, "kiwi") == {"small.md"}
    assert [f["path"] for f in box.findings("unreadable")] == ["large.md"]


# What counts as changed


def test_an_unchanged_vault_is_scanned_without_reading_a_file(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        path = box.put(f"{number}.md", "kiwi")
        os.utime(path, (1_000_000_000, 1_000_000_000))
    box.scan()
    position = box.position

    def refuse(*_: Any) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(looking, "look", refuse)
    box.scan()
    box.put("3.md", "kiwi")
    with pytest.raises(AssertionError, match="a file was read"):
        box.scan()
    assert box.position == position and len(indexed(box)) == 3


def test_a_new_stamp_with_the_same_bytes_is_no_change(box: VaultBox) -> None:
    page = box.page("Ada")
    path = box.path(page)
    box.scan()
    before = box.get(page), box.position
    os.utime(path, (1_000_000_000, 1_000_000_000))
    box.scan()
    assert (box.get(page), box.position) == before


def test_a_save_by_rename_is_a_change_and_never_a_deletion(box: VaultBox) -> None:
    page = box.page("Ada", body="kiwi")
    path = box.path(page)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(path.read_text().replace("kiwi", "mango"))
    temporary.replace(path)
    box.scan()
    assert box.get(page)["revision"] == 2
    assert found(box, "mango") == {box.relative(path)} and found(box, "kiwi") == set()
    assert box.findings("missing") == []


def test_our_own_writes_are_not_taken_for_edits(box: VaultBox) -> None:
    page = box.page("Ada")
    box.change(page, summary="She wrote.")
    position = box.position
    box.scan()
    assert box.position == position and box.get(page)["revision"] == 2


def test_a_file_mended_within_the_clock_s_grain_is_seen(box: VaultBox) -> None:
    """Same size, same time, same inode: only that it is so recent tells that it may have changed."""
    page = box.page("Ada", body="kiwi")
    path = box.path(page)
    good = path.read_bytes()
    path.write_bytes(good.replace(b"kind: page", b"kind: pagg"))
    box.scan()
    assert box.findings("invalid_field") or box.call("knowledge_diagnostics")["total"]
    path.write_bytes(good.replace(b"kiwi", b"pear"))
    found_now = path.stat()
    box.ws.database.execute(
        "UPDATE file SET size=?, mtime_ns=?, ctime_ns=?, inode=?, seen_ns=? WHERE path=?",
        (
            found_now.st_size, found_now.st_mtime_ns, found_now.st_ctime_ns, found_now.st_ino,
            found_now.st_mtime_ns + 1, box.relative(path),
        ),
    )  # fmt: skip
    box.scan()
    assert found(box, "pear") == {box.relative(path)}


def test_what_was_seen_before_it_changed_again_is_looked_at_again(box: VaultBox) -> None:
    path = box.put("note.md", "kiwi")
    seen = looking.look(box.root, "note.md")
    path.write_text("mango, a longer text")
    box.ws.indexer.observe(box.ws.journal, ["note.md"], {"note.md": seen})
    assert found(box, "mango") == {"note.md"} and found(box, "kiwi") == set()


# What is gone, and what only cannot be seen


def test_a_deleted_file_and_a_deleted_folder_are_forgotten(box: VaultBox) -> None:
    box.put("a.md", "kiwi")
    box.put("folder/deep/b.md", "kiwi")
    box.put("c.md", "kiwi")
    box.scan()
    (box.root / "a.md").unlink()
    shutil.rmtree(box.root / "folder")
    box.scan()
    assert found(box, "kiwi") == {"c.md"} == indexed(box)


def test_a_folder_that_cannot_be_listed_loses_nothing(box: VaultBox) -> None:
    box.put("closed/a.md", "kiwi")
    box.put("closed/deep/b.md", "kiwi")
    box.put("open/c.md", "kiwi")
    box.scan()
    with as_an_ordinary_person(box.root.parent):
        (box.root / "open" / "c.md").unlink()
        (box.root / "closed").chmod(0)
        box.scan()
        (box.root / "closed").chmod(0o755)
    assert found(box, "kiwi") == {"closed/a.md", "closed/deep/b.md"}
    assert [f["path"] for f in box.findings("unreadable")] == ["closed/"]
    box.scan()
    assert box.findings("unreadable") == []


def test_a_file_that_cannot_be_read_keeps_what_is_known_of_it(box: VaultBox) -> None:
    path = box.put("a.md", "kiwi")
    box.scan()
    path.write_text("mango")
    with as_an_ordinary_person(box.root.parent):
        path.chmod(0)
        box.scan()
        box.scan()
        path.chmod(0o644)
    assert found(box, "kiwi") == {"a.md"}
    assert [f["path"] for f in box.findings("unreadable")] == ["a.md"]
    box.scan()
    assert found(box, "mango") == {"a.md"} and box.findings("unreadable") == []


def test_a_folder_that_vanishes_while_it_is_listed_loses_nothing(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.put("there/a.md", "kiwi")
    box.put("b.md", "kiwi")
    box.scan()
    opened = os.open

    def failing(path: Any, *more: Any, **options: Any) -> int:
        if str(path).rstrip("/").endswith("there"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return opened(path, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(walk.os, "open", failing)
        box.scan()
    assert indexed(box) == {"there/a.md", "b.md"}


# Many files at once


def fill(box: VaultBox, count: int) -> None:
    for number in range(count):
        box.put(f"notes/{number:03}.md", f"# Note {number}\n\nkiwi {number} [[{number + 1:03}]] #t")
        text = record_file(made_id(number), title=f"Page {number}", body=f"\nmango {number}\n")
        box.put(f"main/pages/person/page-{number:03}.md", text)
    box.put("broken.md", "---\nid: [\n---\nkiwi")


def tables(box: VaultBox) -> dict[str, list[Any]]:
    """Everything that the index keeps of the files, but when they were seen."""
    db = box.ws.database
    return {
        "file": db.rows("SELECT path, size, hash, kind FROM file ORDER BY path"),
        "record": db.rows("SELECT path, id, title, hash, eligible FROM record ORDER BY path"),
        "passage": db.rows(
            "SELECT path, ordinal, heading, start_line, end_line, text FROM passage "
            "JOIN record ON record.key = passage.record ORDER BY path, ordinal"
        ),
        "link": db.rows(
            "SELECT path, target, line FROM link JOIN record USING (key) ORDER BY 1, 3"
        ),
        "name": db.rows(
            "SELECT path, name, source FROM name JOIN record USING (key) ORDER BY 1,2,3"
        ),
        "finding": db.rows("SELECT path, code, line FROM finding ORDER BY path, code"),
    }


def test_other_processes_that_read_ahead_change_nothing_of_the_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    outcomes = []
    for worthwhile, count in ((10**9, 1), (1, 3)):
        monkeypatch.setattr(readers, "WORTHWHILE", worthwhile)
        monkeypatch.setattr(readers, "useful", lambda count=count: count)
        monkeypatch.setattr(readers, "CHUNK", 7)
        monkeypatch.setattr(looking, "BATCH", 40)
        box = VaultBox(tmp_path / f"vault-{count}")
        fill(box, 60)
        box.scan()
        outcomes.append(tables(box))
        box.ws.close()
    assert len(outcomes[0]["file"]) == 121
    assert outcomes[0] == outcomes[1]


def test_processes_that_die_cost_nothing_but_time(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = readers.start

    def dying(*arguments: Any) -> Any:
        process = start(*arguments)
        process.kill()
        return process

    monkeypatch.setattr(readers, "start", dying)
    monkeypatch.setattr(readers, "WORTHWHILE", 1)
    monkeypatch.setattr(readers, "useful", lambda: 2)
    fill(box, 20)
    box.scan()
    assert len(indexed(box)) == 41


def test_progress_is_told_to_the_end(box: VaultBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "BATCH", 10)
    fill(box, 20)
    told: list[tuple[int, int]] = []
    box.ws.scan(lambda done, total: told.append((done, total)))
    assert told[-1] == (41, 41)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert indexer.ScanReport().changed == 0


# Looking aside


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_apart, "WORTHWHILE", 1)
    monkeypatch.setattr(stamped, "RACY_NS", 0)
    monkeypatch.setattr(indexer, "RACY_NS", 0)


@pytest.mark.usefixtures("aside")
def test_a_scan_aside_sees_what_any_scan_does(box: VaultBox) -> None:
    box.put("a.md", "One.\n")
    box.put("b.md", "Two.\n")
    box.scan()
    assert box.ws.scan(aside=True) == indexer.ScanReport(2)
    box.put("a.md", "Changed words.\n")
    (box.root / "b.md").unlink()
    report = box.ws.scan(aside=True)
    assert (report.changed, report.removed) == (1, 1)
    assert found(box, "changed") == {"a.md"} and indexed(box) == {"a.md"}
    (box.root / "c.md").symlink_to("a.md")
    assert set(box.ws.scan(aside=True).problems) == {"c.md"}


@pytest.mark.usefixtures("aside")
def test_where_no_process_can_be_started_a_scan_aside_is_a_scan(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.put("a.md", "One.\n")
    box.scan()
    monkeypatch.setattr(walk_apart.sys, "executable", "/nowhere/python")
    box.put("b.md", "Two.\n")
    assert box.ws.scan(aside=True).changed == 1


# What makes reading faster


def test_a_vault_without_an_index_gets_it_and_is_not_indexed_anew(box: VaultBox) -> None:
    box.page("Ada")
    known = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'record'"
    before = set(box.ws.database.rows(known))
    box.ws.database.execute("DROP INDEX record_titled")
    box.ws.database.execute("DROP INDEX record_listing")
    box.ws.database.execute("CREATE INDEX record_listing ON record (kind)")
    box.ws.close()
    reopened = Workspace.open(box.root)
    assert not reopened.indexer.fresh
    assert set(reopened.database.rows(known)) == before
    reopened.close()
