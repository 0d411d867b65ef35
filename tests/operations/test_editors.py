"""What a person does to files with an editor, a file manager or a sync tool is observed as it is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox, as_an_ordinary_person, made_id, record_file
from vault_kg.errors import Ambiguous, InvalidRecord, MissingFile, NotFound, UnsafePath
from vault_kg.operations import care
from vault_kg.operations.caller import Caller

# Changed and new files


def test_a_changed_file_is_the_next_revision_by_the_editor_and_its_bytes_stay(
    vault: VaultBox,
) -> None:
    page = vault.page(body="Words.")
    path = vault.edit(page, "Words.", "Other words.")
    saved = path.read_bytes()
    vault.scan()
    view = vault.get(page)
    assert (view["revision"], view["body"], view["eligible"]) == (2, "Other words.", True)
    first = vault.history(page, diff=True)[0]
    assert (first["actor"], first["operation"]) == ("editor", "observe")
    assert "-Words." in first["diff"] and "+Other words." in first["diff"]
    assert path.read_bytes() == saved, "observing an edit rewrites nothing"
    assert vault.git("log", "-1", "--format=%an %s").startswith("editor edit:")
    assert vault.git("status", "--short") == ""


def test_a_new_record_file_is_taken_in_with_the_revision_that_it_states(vault: VaultBox) -> None:
    record = made_id(1)
    vault.put("main/pages/person/by-hand.md", record_file(record, revision=7))
    vault.scan()
    view = vault.get(record)
    assert (view["revision"], view["lifecycle"], view["eligible"]) == (7, "active", True)
    vault.change(record, summary="x")
    assert vault.get(record)["revision"] == 8


@pytest.mark.parametrize("lifecycle", ["withdrawn", "superseded"])
def test_a_record_that_is_inactive_when_first_seen_is_believed_and_guarded(
    vault: VaultBox, lifecycle: str
) -> None:
    record = made_id(1)
    more = {"superseded_by": made_id(2)} if lifecycle == "superseded" else {}
    path = vault.put("main/pages/person/a.md", record_file(record, lifecycle=lifecycle, **more))
    vault.scan()
    assert vault.get(record)["lifecycle"] == lifecycle
    path.write_text(path.read_text().replace(f"lifecycle: {lifecycle}", "lifecycle: active"))
    vault.scan()
    assert vault.get(record)["lifecycle"] == lifecycle and record not in vault.listed()
    assert [f["record"] for f in vault.findings("guard_contradicted")] == [record]


def test_a_read_sees_an_edit_that_no_scan_has_seen(vault: VaultBox) -> None:
    page = vault.page(body="Words.")
    vault.edit(page, "Words.", "Other words.")
    view = vault.get(page)
    assert view["body"] == "Other words." and view["revision"] == 2


def test_an_edit_of_the_same_size_in_the_same_second_is_seen(vault: VaultBox) -> None:
    page = vault.page(body="aaaa")
    path = vault.path(page)
    for text in ("bbbb", "cccc", "dddd"):
        stamp = path.stat()
        path.write_bytes(path.read_bytes().replace(vault.get(page)["body"].encode(), text.encode()))
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        vault.scan()
        assert vault.get(page)["body"] == text
    assert [r["revision"] for r in vault.history(page)] == [4, 3, 2, 1]


def test_a_save_by_rename_is_a_change_and_not_a_deletion(vault: VaultBox) -> None:
    page = vault.page(body="Words.")
    path = vault.path(page)
    swap = path.with_suffix(".md~")
    swap.write_bytes(path.read_bytes().replace(b"Words.", b"By vim."))
    swap.replace(path)
    vault.scan()
    assert vault.get(page)["body"] == "By vim." and vault.findings("missing") == []
    assert [r["operation"] for r in vault.history(page)] == ["observe", "knowledge_save_page"]


def test_a_touched_file_is_no_edit(vault: VaultBox) -> None:
    page = vault.page()
    path = vault.path(page)
    os.utime(path, (1, 1))
    path.write_bytes(path.read_bytes())
    with vault.nothing_changes():
        vault.scan()
    assert vault.get(page)["revision"] == 1


@pytest.mark.parametrize(
    ("mark", "newline"), [("", "\r\n"), ("\ufeff", "\n"), ("\ufeff", "\r\n"), ("", "\r")]
)
def test_a_file_saved_with_crlf_or_a_byte_order_mark_is_the_same_record(
    vault: VaultBox, mark: str, newline: str
) -> None:
    page = vault.page("Ada", body="One.\n\nTwo.", tags=["a"])
    path = vault.path(page)
    path.write_bytes((mark + path.read_text().replace("\n", newline)).encode())
    saved = path.read_bytes()
    vault.scan()
    view = vault.get(page)
    assert view["revision"] == 2 and view["title"] == "Ada" and view["tags"] == ["a"]
    assert path.read_bytes() == saved and vault.findings(section="files") == []


# Moved, copied and deleted files


@pytest.mark.parametrize(
    "place",
    ["main/pages/person/other.md", "main/pages/topic/ada.md", "somewhere/else.md", "ada.MD",
     "main/pages/person/ADA.md", "main/pages/person/a b (1).md", "main/pages/person/数据.md"],
)  # fmt: skip
def test_a_moved_file_keeps_its_identity_links_and_history(vault: VaultBox, place: str) -> None:
    ada = vault.page(body="Words.")
    claim, linking = vault.claim(ada), vault.page("Linking", body="[[Ada]]")
    target = vault.root / place
    target.parent.mkdir(parents=True, exist_ok=True)
    vault.path(ada).rename(target)
    vault.scan()
    view = vault.get(ada)
    assert view["path"] == place and view["revision"] == 1 and view["backlinks"] == 1
    assert {claim, linking, ada} <= vault.listed() and vault.findings() == []
    assert len(vault.history(ada)) == 1
    assert vault.git("status", "--short") == ""
    vault.change(ada, summary="x")
    assert vault.get(ada)["path"] == place
    assert vault.lookup("Ada") == ada


def test_a_file_moved_and_edited_at_once_is_one_change(vault: VaultBox) -> None:
    page = vault.page(body="Words.")
    old = vault.edit(page, "Words.", "Moved words.")
    new = old.with_name("moved.md")
    old.rename(new)
    vault.scan()
    view = vault.get(page)
    assert view["path"].endswith("moved.md") and view["body"] == "Moved words."
    assert view["revision"] == 2 and vault.findings() == []


def test_two_files_that_change_places_change_paths_only(vault: VaultBox) -> None:
    first, second = vault.page("First"), vault.page("Second")
    one, two, aside = vault.path(first), vault.path(second), vault.root / "aside"
    one.rename(aside)
    two.rename(one)
    aside.rename(two)
    with suppress(MissingFile):  # a file that was moved is found by the next scan
        assert vault.get(first)["title"] == "First"
    vault.scan()
    for page, title, path in ((first, "First", two), (second, "Second", one)):
        view = vault.get(page)
        assert (view["title"], view["revision"]) == (title, 1)
        assert vault.root / view["path"] == path
    assert vault.findings() == []


def test_a_file_moved_to_another_partition_belongs_there(vault: VaultBox) -> None:
    page = vault.page()
    vault.put("private/pages/person/ada.md", vault.path(page).read_bytes())
    (vault.root / "main/pages/person/ada.md").unlink()
    vault.scan()
    here, there = (Caller("c", partitions=frozenset({p})) for p in ("main", "private"))
    assert vault.call("knowledge_get", there, id=page)["partition"] == "private"
    assert page in vault.listed(there) and page not in vault.listed(here)
    with pytest.raises(NotFound):
        vault.call("knowledge_get", here, id=page)
    assert len(vault.history(page)) == 2


def test_a_deleted_file_is_missing_and_restored_with_its_last_bytes(vault: VaultBox) -> None:
    page = vault.page(body="First.")
    claim = vault.claim(page)
    vault.edit(page, "First.", "Last.")
    vault.scan()
    path = vault.path(page)
    last = path.read_bytes()
    path.unlink()
    vault.scan()
    with pytest.raises(MissingFile) as caught:
        vault.get(page)
    assert caught.value.code == "missing"
    assert f"vault-kg restore {page}" in caught.value.message
    assert [r["revision"] for r in vault.history(page)] == [2, 1]
    (finding,) = vault.findings("missing")
    assert finding["record"] == page and "deletion is not withdrawal" in finding["message"]
    assert not {page, claim} & vault.listed() and page not in vault.listed(lifecycle="all")
    assert vault.git("status", "--short") == ""

    receipt = vault.write("knowledge_restore", id=page)
    assert receipt["path"] == vault.relative(path) and path.read_bytes() == last
    view = vault.get(page)
    assert (view["revision"], view["body"], view["eligible"]) == (2, "Last.", True)
    assert claim in vault.listed() and vault.findings("missing") == []
    assert vault.git("status", "--short") == ""
    vault.refused("knowledge_restore", id=page)


def test_a_deletion_is_seen_by_the_read_that_meets_it(vault: VaultBox) -> None:
    page = vault.page()
    vault.path(page).unlink()
    with pytest.raises(MissingFile):
        vault.get(page)
    assert page not in vault.listed()


def test_a_deleted_folder_leaves_its_records_missing(vault: VaultBox) -> None:
    ada = vault.page()
    claims = {vault.claim(ada) for _ in range(3)}
    for path in [vault.path(claim) for claim in claims]:
        path.unlink()
    (vault.root / "main/claims/ada").rmdir()
    vault.scan()
    assert {f["record"] for f in vault.findings("missing")} == claims
    assert ada in vault.listed()
    for claim in claims:
        vault.write("knowledge_restore", id=claim)
    assert claims <= vault.listed()


def test_a_file_put_back_by_hand_needs_no_restore(vault: VaultBox) -> None:
    page = vault.page()
    path, content = vault.path(page), vault.path(page).read_bytes()
    path.unlink()
    vault.scan()
    vault.put("anywhere/back.md", content)
    vault.scan()
    assert vault.get(page)["revision"] == 1 and page in vault.listed()


def test_another_file_at_the_place_of_a_deleted_one_is_its_own_record(vault: VaultBox) -> None:
    page = vault.page()
    path = vault.path(page)
    path.unlink()
    vault.scan()
    other = made_id(5)
    path.write_text(record_file(other))
    vault.scan()
    assert vault.get(other)["title"] == "By hand"
    with pytest.raises(MissingFile):
        vault.get(page)
    receipt = vault.write("knowledge_restore", id=page)
    assert receipt["path"] != vault.relative(path)
    assert {page, other} <= vault.listed()


def test_two_files_with_one_id_are_both_listed_and_neither_is_looked_up(vault: VaultBox) -> None:
    page = vault.page()
    path = vault.path(page)
    copy = path.with_name("copy.md")
    copy.write_bytes(path.read_bytes())
    vault.scan()
    rows = [r for r in vault.call("knowledge_records")["records"] if r["id"] == page]
    assert {r["path"] for r in rows} == {vault.relative(path), vault.relative(copy)}
    paths = {vault.relative(path), vault.relative(copy)}
    for name, key in (("knowledge_get", "id"), ("knowledge_lookup", "text")):
        refused = vault.refused(name, **{key: page})
        assert isinstance(refused, Ambiguous)
        assert {c["path"] for c in refused.data["candidates"]} == paths
    refused = vault.refused("knowledge_save_page", id=page, expectedRevision=1,
                            expectedHash="sha256:" + "0" * 64, summary="x")  # fmt: skip
    assert isinstance(refused, Ambiguous) and "Delete the copy" in refused.message
    (finding,) = vault.findings("duplicate_id")
    assert all(p in finding["message"] for p in paths) and finding["hint"]
    copy.unlink()
    vault.scan()
    assert vault.get(page)["path"] == vault.relative(path) and vault.findings() == []


@pytest.mark.parametrize("edited", [False, True])
def test_the_copy_that_is_left_is_the_record(vault: VaultBox, edited: bool) -> None:
    page = vault.page(body="Words.")
    path = vault.path(page)
    copy = path.with_name("copy.md")
    copy.write_bytes(path.read_bytes().replace(b"Words.", b"Copied." if edited else b"Words."))
    vault.scan()
    path.unlink()
    vault.scan()
    view = vault.get(page)
    assert view["path"] == vault.relative(copy)
    assert view["body"] == ("Copied." if edited else "Words.")
    assert view["revision"] == (2 if edited else 1) == len(vault.history(page))
    assert vault.findings() == []
    vault.change(page, summary="x")
    assert vault.git("status", "--short") == ""


def test_twin_names_are_two_records(vault: VaultBox) -> None:
    """The path is the identity of a file, not what it slugs or folds to."""
    twins = ["a b.md", "a-b.md", "a_b.md", "A b.md", "a\u0301.md", "\u00e1.md"]
    for number, name in enumerate(twins):
        vault.put(f"main/pages/person/{name}", record_file(made_id(number), title=f"T{number}"))
    vault.scan()
    assert vault.listed() == {made_id(n) for n in range(len(twins))}
    for number, name in enumerate(twins):
        assert vault.get(made_id(number))["path"] == f"main/pages/person/{name}"
        vault.change(made_id(number), summary=f"S{number}")
    assert [vault.get(made_id(n))["summary"] for n in range(len(twins))] == [
        f"S{n}" for n in range(len(twins))
    ]  # fmt: skip


# What is not obeyed


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("lifecycle: active", "lifecycle: withdrawn", "lifecycle_edited"),
        ("lifecycle: active", "lifecycle: superseded", "lifecycle_edited"),
        ("lifecycle: active", f"lifecycle: merged\nmerged_into: {made_id(9)}", "lifecycle_edited"),
        (
            "lifecycle: active",
            f"lifecycle: active\nsuperseded_by: {made_id(9)}",
            "lifecycle_edited",
        ),
        ("lifecycle: active", f"lifecycle: active\nmerged_into: {made_id(9)}", "lifecycle_edited"),
        ("revision: 1", "revision: 40", "revision_edited"),
    ],
)
def test_lifecycle_revision_and_successors_edited_by_hand_are_reported_and_not_obeyed(
    vault: VaultBox, old: str, new: str, code: str
) -> None:
    page = vault.page()
    claim = vault.claim(page)
    path = vault.edit(page, old, new)
    saved = path.read_bytes()
    vault.scan()
    view = vault.get(page)
    assert (view["lifecycle"], view["revision"], view["eligible"]) == ("active", 2, True)
    assert view["supersededBy"] is None and view["mergedInto"] is None
    assert {page, claim} <= vault.listed()
    (finding,) = {f["code"]: f for f in vault.findings(code)}.values()
    assert finding["record"] == page and finding["path"] == view["path"]
    assert "stands and is what counts" in finding["message"] and finding["hint"]
    assert path.read_bytes() == saved
    vault.change(page, summary="x")
    assert vault.get(page)["revision"] == 3
    assert "revision: 3" in path.read_text()
    assert vault.findings("revision_edited") == []


@pytest.mark.parametrize("other", ["unknown", "known"])
def test_an_id_edited_by_hand_is_reported_and_not_obeyed(vault: VaultBox, other: str) -> None:
    page, second = vault.page(body="Words."), vault.page("Second")
    claim = vault.claim(page)
    wrong = made_id(3) if other == "unknown" else second
    path = vault.edit(page, f"id: {page}", f"id: {wrong}")
    vault.scan()
    for _ in range(2):
        view = vault.get(page)
        assert view["body"] == "Words." and view["path"] == vault.relative(path)
        assert {page, second, claim} <= vault.listed()
        assert vault.get(second)["title"] == "Second"
        (finding,) = vault.findings("id_edited")
        assert finding["path"] == view["path"] and f"id: {page}" in finding["hint"]
        assert path.read_text().splitlines()[finding["line"] - 1] == f"id: {wrong}"
        care.reindex(vault.ws)
    path.write_text(path.read_text().replace(f"id: {wrong}", f"id: {page}"))
    vault.scan()
    assert vault.findings() == [] and vault.get(page)["revision"] == 3


def test_a_write_after_an_edited_id_writes_the_id_back(vault: VaultBox) -> None:
    page = vault.page()
    path = vault.edit(page, f"id: {page}", f"id: {made_id(3)}")
    vault.scan()
    vault.change(page, summary="x")
    assert f"\nid: {page}\n" in path.read_text()
    assert vault.findings("id_edited") == [] and vault.get(page)["summary"] == "x"


# Files that cannot be read


BROKEN = {
    "cut in the front matter": lambda b: b[: b.index(b"lifecycle")],
    "cut in a value": lambda b: b.replace(b"title: Ada", b'title: "Ada'),
    "empty": lambda b: b"",
    "not UTF-8": lambda b: b.replace(b"Words.", b"W\xff\xferds."),
    "a tab": lambda b: b.replace(b"title: ", b"\ttitle: "),
    "two ids": lambda b: b.replace(b"title: ", b"id: pg_x\ntitle: "),
    "another format": lambda b: b.replace(b"knowledge-record-v1", b"knowledge-record-v9"),
    "no kind": lambda b: b.replace(b"kind: page", b"kind: thing"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_file_stays_untouched_is_reported_and_never_stops_the_rest(
    vault: VaultBox, how: str
) -> None:
    page, other = vault.page(body="Words."), vault.page("Other")
    claim = vault.claim(page)
    path, whole = vault.path(page), vault.path(page).read_bytes()
    path.write_bytes(BROKEN[how](whole))
    broken = path.read_bytes()
    vault.edit(other, "title: Other", "title: Still seen")
    vault.scan()
    assert path.read_bytes() == broken
    assert vault.lookup("still seen") == other
    assert not {page, claim} & vault.listed()
    (finding,) = [f for f in vault.findings() if f["path"] == vault.relative(path)]
    assert finding["message"] and finding["hint"]
    assert how == "empty" or finding["line"] >= 1
    with pytest.raises(MissingFile if how == "empty" else InvalidRecord) as caught:
        vault.get(page)
    assert vault.relative(path) in caught.value.message
    assert vault.history(page), "history still answers"
    path.write_bytes(whole)
    vault.scan()
    assert vault.get(page)["revision"] == 1 and {page, claim} <= vault.listed()
    assert vault.findings() == []


def test_a_file_half_written_is_seen_whole_when_it_is_finished(vault: VaultBox) -> None:
    page = vault.page(body="Words.")
    path = vault.path(page)
    content = path.read_bytes().replace(b"Words.", b"Other words, and more of them.")
    for size in (0, 10, 80, len(content) - 20, len(content)):
        path.write_bytes(content[:size])
        vault.scan()
    assert vault.get(page)["body"] == "Other words, and more of them."
    assert vault.findings() == []


def test_a_file_made_a_symlink_is_reported_and_not_read(vault: VaultBox, folder: Path) -> None:
    page = vault.page()
    path = vault.path(page)
    outside = folder / "outside.md"
    path.rename(outside)
    path.symlink_to(outside)
    vault.scan()
    codes = {f["code"] for f in vault.findings() if f["path"] == vault.relative(path)}
    assert codes == {"symlink", "missing"}
    with pytest.raises((MissingFile, UnsafePath)):
        vault.get(page)
    assert page not in vault.listed()
    path.unlink()
    outside.rename(path)
    vault.scan()
    assert vault.get(page)["revision"] == 1 and vault.findings() == []


def test_a_symlinked_folder_is_not_followed(vault: VaultBox, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out/x.md").write_text(record_file(made_id(1)))
    (vault.root / "linked").symlink_to(folder / "out", target_is_directory=True)
    vault.scan()
    assert vault.listed(lifecycle="all") == set()


def test_a_record_over_ten_megabytes_is_reported_and_not_read_whole(vault: VaultBox) -> None:
    page = vault.page(body="Words.")
    path, whole = vault.path(page), vault.path(page).read_bytes()
    path.write_bytes(whole + b"x" * 10_000_001)
    for _ in range(2):
        vault.scan()
        (finding,) = vault.findings("unreadable")
        assert finding["path"] == vault.relative(path) and "10,000,000" in finding["message"]
        with pytest.raises(UnsafePath):
            vault.get(page)
    path.write_bytes(whole)
    vault.scan()
    assert vault.findings() == [] and vault.get(page)["body"] == "Words."


def test_an_unreadable_file_is_reported_and_nothing_is_forgotten(
    vault: VaultBox, folder: Path
) -> None:
    page = vault.page()
    path = vault.path(page)
    path.chmod(0)
    with as_an_ordinary_person(folder):
        vault.scan()
        assert [f["path"] for f in vault.findings("unreadable")] == [vault.relative(path)]
        with pytest.raises(InvalidRecord, match="permissions"):
            vault.get(page)
        fence = {"expectedRevision": 1, "expectedHash": "sha256:" + "0" * 64}
        with pytest.raises(InvalidRecord, match="permissions"):
            vault.write("knowledge_save_page", id=page, **fence, summary="x")
        assert vault.findings("missing") == []
        path.chmod(0o644)
        vault.scan()
        assert vault.get(page)["revision"] == 1 and vault.findings() == []


def test_an_unreadable_folder_removes_nothing_from_the_index(vault: VaultBox, folder: Path) -> None:
    page = vault.page()
    place = vault.path(page).parent
    with as_an_ordinary_person(folder):
        place.chmod(0)
        vault.scan()
        assert vault.findings("missing") == [] and page in vault.listed()
        assert vault.findings("unreadable")
        with pytest.raises(InvalidRecord, match="permissions"):
            vault.get(page)
        place.chmod(0o755)
        vault.scan()
        assert vault.findings() == [] and vault.get(page)["revision"] == 1


# YAML


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


YAML = {
    "an alias bomb": bomb(9),
    "a circle": "x: &x [*x]",
    "deep nesting": "x: " + "[" * 500 + "]" * 500,
    "deep blocks": "\n".join(" " * n + f"k{n}:" for n in range(200)),
    "python": "x: !!python/object/apply:os.system ['touch /tmp/vault-kg-owned']",
    "a merge key": "x: &x {a: 1}\n<<: *x",
    "many anchors": "\n".join(f"k{n}: &a{n} 1" for n in range(2_000)),
    "a long number": "n: " + "9" * 100_000,
    "control characters": "x: a\x07b",
}


@pytest.mark.parametrize("how", YAML)
def test_yaml_is_read_safely_and_within_bounds(vault: VaultBox, how: str) -> None:
    other = vault.page()
    content = record_file(made_id(1)).replace("title:", YAML[how] + "\ntitle:", 1)
    path = vault.put("main/pages/person/bomb.md", content)
    vault.put("notes/bomb.md", f"---\n{YAML[how]}\n---\ntext\n")
    vault.scan()
    assert other in vault.listed()
    assert path.read_text() == content
    assert not Path("/tmp/vault-kg-owned").exists()
    listed = made_id(1) in vault.listed()
    assert listed or [f for f in vault.findings() if f["path"] == "main/pages/person/bomb.md"]


# Notes and odd files


@pytest.mark.parametrize(
    "content", ["", " \n\t\n", "---", "---\n", "---\n---\n", "\ufeff", "\n---\ntitle: x\n---\n"]
)
def test_an_empty_or_nearly_empty_file_is_untouched_and_listed(
    vault: VaultBox, content: str
) -> None:  # C4
    path = vault.put("notes/empty.md", content)
    vault.scan()
    assert path.read_bytes() == content.encode()
    listed = {r["path"] for r in vault.call("knowledge_records", kind="note")["records"]}
    reported = {f["path"] for f in vault.findings()}
    assert "notes/empty.md" in listed | reported


@pytest.mark.parametrize(
    ("front", "tags", "aliases"),
    [
        ("tags: 2024", ["2024"], []),
        ("tags: [a, 1, 2024-01-05, null]", ["1", "2024-01-05", "a"], []),
        ("tags: true", ["true"], []),
        ("tags: {a: 1}", [], []),
        ("tags: a, b", ["a", "b"], []),
        ("aliases: Ada", [], ["ada"]),
        ("aliases: [1, null, Ada]", [], ["1", "ada"]),
        ("title:", [], []),
        ("title: Foo: bar", [], ["foo: bar"]),
        ("title: 2024", [], []),
        ("title: [x]", [], []),
    ],
)
def test_front_matter_of_any_form_is_read_and_its_bytes_kept(
    vault: VaultBox, front: str, tags: list[str], aliases: list[str]
) -> None:  # C45
    content = f"---\n{front}\n---\nText.\n"
    path = vault.put("notes/odd.md", content)
    vault.scan()
    view = vault.get("doc:file:notes/odd.md")
    assert view["tags"] == tags and view["body"] == "Text." and view["title"] not in ("None", "")
    for alias in aliases:
        assert vault.lookup(alias) == "doc:file:notes/odd.md"
    if front in ("tags: {a: 1}", "title: [x]"):
        assert isinstance(
            vault.refused("knowledge_adopt", path="notes/odd.md", type="Topic"), InvalidRecord
        )
    else:
        vault.write("knowledge_adopt", path="notes/odd.md", type="Topic")
    text = path.read_text()
    kept = "title: odd" if front == "title:" else front  # adopted, it gets a title of its own
    assert text.startswith(f"---\n{kept}\n") and text.endswith("\nText.\n")


@pytest.mark.parametrize("front", ["tags: 2024", "tags: [a, 1, 2024-01-05, null]", "aliases: Ada"])
def test_a_record_with_scalars_for_lists_is_read_and_changed_without_touching_them(
    vault: VaultBox, front: str
) -> None:
    vault.put(
        "main/pages/person/odd.md", record_file(made_id(1)).replace("type:", f"{front}\ntype:")
    )
    vault.scan()
    assert vault.get(made_id(1))["eligible"]
    vault.change(made_id(1), summary="x")
    assert f"\n{front}\n" in (vault.root / "main/pages/person/odd.md").read_text()


def test_indexing_writes_no_file(vault: VaultBox) -> None:
    for number in range(5):
        vault.put(f"notes/{number}.md", f"# {number}\n\n[[0]] #tag\n")
    vault.put("main/pages/person/x.md", record_file(made_id(1)))
    before = vault.files()
    vault.scan()
    vault.call("knowledge_search", query="tag", mode="text")
    assert vault.files() == before


def test_a_folder_named_like_a_record_is_no_record(vault: VaultBox) -> None:
    (vault.root / "main/pages/person/dir.md").mkdir(parents=True)
    vault.scan()
    assert vault.listed() == set()


def test_ignored_files_are_not_looked_at(vault: VaultBox) -> None:
    vault.put(".gitignore", "drafts/\n*.tmp.md\n")
    vault.put("drafts/a.md", record_file(made_id(1)))
    vault.put("x.tmp.md", "note\n")
    vault.put(".obsidian/b.md", "note\n")
    vault.scan()
    assert vault.listed(lifecycle="all") == set()
    for uid in ("doc:file:x.tmp.md", "doc:file:drafts/a.md", "doc:file:.obsidian/b.md"):
        assert isinstance(vault.refused("knowledge_get", id=uid), NotFound)
