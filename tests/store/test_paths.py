"""No path leaves the vault, whoever gives it and however it is spelled."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operations.builder import VaultBox, made_id, record_file
from tests.store import trials
from tests.store.trials import Call
from vault_kg.errors import InvalidArgument, UnsafePath
from vault_kg.store import paths

CLIMBING = ["..", "../x", "a/../../x", "a/..", "./a", "a/./b", "/etc/passwd", "//x", "a//b", ""]
DISGUISED = [
    "a\\b", "..\\x", "C:\\x", "a\0b", "a\nb", "\u2024\u2024/x", "\u2025/x", "a\uff0fb",
    "a\u2215b", "a\u29f8b", "\uff0e\uff0e/x", "\ud800/x", ".\u200d./x", ".\ufeff.",
]  # fmt: skip
DEVICES = ["con", "CON.md", "nul", "com1.txt", "LPT9", "aux .md", "COM\u00b9", "a/prn/b", "ｃｏｎ"]
PRIVATE = [".git/x", ".GIT", ".vault-kg", ".Vault-KG/tmp/x", ".g\u200cit/x", "a/.git", "git~1"]
UNFIT = ["a.", "a ", "a /b", "a:b", "a|b", 'a"b', "a?", "<a>"]
GOOD = ["main/pages/person/ada.md", "ž/日本.md", "a b/c-d.md", "console/x", "نص/x.md", "x.git"]


@pytest.mark.parametrize("text", [*CLIMBING, *DISGUISED, *DEVICES, *PRIVATE, *UNFIT], ids=ascii)
def test_an_unsafe_path_is_refused(text: str) -> None:
    with pytest.raises(UnsafePath):
        paths.check_relative(text)


@pytest.mark.parametrize("text", GOOD, ids=ascii)
def test_a_plain_path_is_taken_as_it_is(text: str) -> None:
    assert paths.check_relative(text) == text


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", ".hidden", "con", "a\\b", "/", "a\0", ".git"], ids=ascii
)
def test_a_partition_is_one_plain_folder_name(name: str) -> None:
    with pytest.raises((InvalidArgument, UnsafePath)):
        paths.check_partition(name)


PIECES = st.one_of(
    st.sampled_from(["..", ".", "/", "\\", "\0", ":", " ", "~", "con", ".git", "a", "\u2025"]),
    st.characters(),
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_path_that_is_accepted_stays_inside_in_every_spelling(text: str) -> None:
    try:
        safe = paths.check_relative(text)
    except UnsafePath:
        return
    for form in ("NFC", "NFD"):
        spelled = unicodedata.normalize(form, safe)
        parts = spelled.split("/")
        assert not set(parts) & {"", ".", ".."}
        assert len(parts) == len(text.split("/"))
        assert "\\" not in spelled and "\0" not in spelled and not spelled.startswith("/")
        inside = os.path.normpath(os.path.join("/vault", spelled))  # noqa: PTH118
        assert inside.startswith("/vault/")
    assert safe.split("/")[0].casefold() not in (".git", ".vault-kg")


@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_path_that_is_resolved_is_inside_or_refused(text: str) -> None:
    root = Path("/nonexistent-vault")
    try:
        found = paths.resolve(root, text)
    except (UnsafePath, UnicodeEncodeError):
        return
    assert found.is_relative_to(root) and found != root
    assert ".." not in found.parts


@pytest.mark.parametrize("where", ["folder", "middle", "file", "dangling"])
def test_a_link_anywhere_on_the_way_is_refused(tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    (outside / "b/c.md").write_text("secret")
    root = tmp_path / "vault"
    (root / "a").mkdir(parents=True)
    if where == "folder":
        (root / "a").rmdir()
        (root / "a").symlink_to(outside)
    elif where == "middle":
        (root / "a/b").symlink_to(outside / "b")
    else:
        (root / "a/b").mkdir()
        target = outside / ("b/c.md" if where == "file" else "none")
        (root / "a/b/c.md").symlink_to(target)
    with pytest.raises(UnsafePath, match="symbolic link"):
        paths.resolve(root, "a/b/c.md")


# Through operations


@pytest.fixture
def box(tmp_path: Path) -> Iterator[VaultBox]:
    made = VaultBox(tmp_path / "inside" / "vault")
    yield made
    made.ws.close()


@pytest.fixture
def outside(box: VaultBox) -> Iterator[Path]:
    """A file beside the vault that nobody may see or touch through it."""
    secret = box.root.parent / "secret.md"
    secret.write_text(record_file(made_id(9), title="Secret", body="\nthe hidden word\n"))

    def beside() -> tuple[bytes, list[str]]:
        names = sorted(p.name for p in box.root.parent.iterdir())
        return secret.read_bytes(), [n for n in names if not n.startswith("outside-")]

    before = beside()
    yield secret
    assert beside() == before


def told(answer: Any) -> str:
    return str(answer.get("error", {}).get("code"))


CLIMBS = ["../secret.md", "main/../../secret.md", "notes/../../secret.md", "a\0b", "..\\secret.md"]


@pytest.mark.parametrize("path", CLIMBS, ids=ascii)
def test_reading_and_adopting_go_nowhere_outside(box: VaultBox, outside: Path, path: str) -> None:
    (box.root / "notes").mkdir()
    spellings = [path, str(outside)]
    for text in spellings:
        for call in (
            Call("knowledge_get", {"id": f"doc:file:{text}"}),
            Call("knowledge_lookup", {"text": text}),
            Call("knowledge_adopt", {"requestId": "a", "path": text}),
        ):
            answer = trials.perform(box.ws, call)
            assert told(answer) in ("not_found", "unsafe_path", "invalid_argument"), answer
            assert "hidden word" not in str(answer)
    assert "secret" not in str(box.findings()), "nor is it told whether there is such a file"


@pytest.mark.parametrize("name", ["../up", "/abs", ".git", ".vault-kg", "a/b", "con", "..", "x\\y"])
def test_a_partition_makes_no_folder_outside(box: VaultBox, outside: Path, name: str) -> None:
    box.source()
    sha256 = hashlib.sha256(b"x").hexdigest()
    page = {"requestId": "p", "type": "Person", "title": "A", "partition": name}
    send = {"requestId": "s", "name": "x", "sha256": sha256, "size": 1, "offset": 0}
    send |= {"chunk": "eA==", "final": True, "partition": name}
    for call in (Call("knowledge_save_page", page), Call("knowledge_attach", send)):
        answer = trials.perform(box.ws, call)
        assert told(answer) in ("invalid_argument", "unsafe_path"), answer


TITLES = [
    "..", "../../etc/passwd", "/etc/passwd", "C:\\x", "con", "NUL.txt", "a\u202eb", ".git",
    "a" * 300, "\u2025/\u2025", "index", "   ", "日本/語", "🙂", "نص عربي",
]  # fmt: skip


@pytest.mark.parametrize("title", TITLES, ids=ascii)
def test_a_title_becomes_a_safe_file_name(box: VaultBox, outside: Path, title: str) -> None:
    answer = trials.perform(
        box.ws, Call("knowledge_save_page", {"requestId": "t", "type": "Person", "title": title})
    )
    if "error" in answer:
        assert told(answer) in ("invalid_argument", "invalid_record")
        return
    assert paths.check_relative(answer["path"]) == answer["path"]
    assert (box.root / answer["path"]).is_file()
    assert len(Path(answer["path"]).name.encode()) <= 255


@pytest.mark.parametrize("name", [*TITLES, "source.yaml", "SOURCE.YAML", "x.\u202etxt"], ids=ascii)
def test_the_name_of_a_source_becomes_a_safe_file_name(
    box: VaultBox, outside: Path, name: str
) -> None:
    content = name.encode("utf-8", "replace")
    file = box.root.parent.parent / "attached"
    file.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    values = {"requestId": "s", "filePath": str(file), "sha256": sha256, "filename": name}
    answer = trials.perform(box.ws, Call("knowledge_attach_file", values))
    if "error" in answer:
        assert told(answer) == "invalid_argument"
        return
    assert paths.check_relative(answer["path"]) == answer["path"]
    assert (box.root / answer["path"]).read_bytes() == content
    assert answer["path"].count("/") == 3


@pytest.mark.parametrize("kind", ["link", "hard-link", "folder", "pipe", "device", "none", "long"])
def test_only_a_plain_file_of_its_own_is_attached(box: VaultBox, kind: str) -> None:
    place = box.root.parent
    plain = place / "plain.txt"
    plain.write_text("x")
    path = place / kind
    if kind == "link":
        path.symlink_to(plain)
    elif kind == "hard-link":
        path.hardlink_to(plain)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/null")
    elif kind == "long":
        path = place / ("x" * 400)
    sha256 = hashlib.sha256(b"x").hexdigest()
    values = {"requestId": "s", "filePath": str(path), "sha256": sha256}
    answer = trials.perform(box.ws, Call("knowledge_attach_file", values))
    assert told(answer) == "invalid_argument", answer


def test_a_descriptor_by_hand_names_no_file_elsewhere(box: VaultBox, outside: Path) -> None:
    source = box.source()
    descriptor = next(box.root.glob("main/sources/*/source.yaml"))
    text = descriptor.read_text()
    for file in ("../../../../secret.md", str(outside), "..", "a/../../b"):
        descriptor.write_text(text.replace("filename: notes.txt", f"filename: {file}"))
        box.scan()
        answer = trials.perform(box.ws, Call("knowledge_source", {"id": source}))
        assert told(answer) == "not_found", answer
    retained = descriptor.with_name("notes.txt")
    descriptor.write_text(text)
    retained.unlink()
    retained.symlink_to(outside)
    box.scan()
    answer = trials.perform(box.ws, Call("knowledge_source", {"id": source}))
    assert told(answer) == "not_found" and "hidden word" not in str(answer)


@pytest.mark.parametrize("what", ["file", "folder", "partition", "hidden"])
def test_links_in_the_vault_are_neither_read_nor_written_through(
    box: VaultBox, outside: Path, what: str
) -> None:
    ada = box.page("Ada")
    box.page("Company X", type="Company")
    people = box.root / "main/pages/person"
    if what == "file":
        (people / "linked.md").symlink_to(outside)
    elif what == "folder":
        (box.root / "main/pages/linked").symlink_to(outside.parent)
    elif what == "partition":
        (box.root / "other").symlink_to(outside.parent)
        values = {"requestId": "p", "type": "Person", "title": "B", "partition": "other"}
        answer = trials.perform(box.ws, Call("knowledge_save_page", values))
        assert told(answer) == "unsafe_path"
    else:
        moved = box.root.parent.parent / "moved-away"
        people.rename(moved)
        people.symlink_to(moved)
        before = (moved / "ada.md").read_bytes()
        box.scan()
        change = {"requestId": "c", "id": ada, "expectedRevision": 1}
        change |= {"expectedHash": "sha256:" + hashlib.sha256(before).hexdigest(), "summary": "x"}
        answer = trials.perform(box.ws, Call("knowledge_save_page", change))
        assert told(answer) in ("missing", "unsafe_path"), answer
        assert (moved / "ada.md").read_bytes() == before
        people.unlink()
        moved.rename(people)
    box.scan()
    assert made_id(9) not in box.listed()
    found = box.call("knowledge_search", query="hidden word")
    assert "hidden word" not in str(found.get("results", found))
    assert box.get(ada)["title"] == "Ada"


def test_an_ontology_that_files_outside_the_vault_is_refused(box: VaultBox, outside: Path) -> None:
    for folder in ("../../up", "/abs", ".git/hooks", "a/../../.."):
        box.put("ontology.yaml", f"page_types:\n  Odd:\n    filing: [{folder}]\n")
        box.scan()
        answer = trials.perform(
            box.ws, Call("knowledge_save_page", {"requestId": folder, "type": "Odd", "title": "A"})
        )
        if "error" not in answer:
            assert paths.check_relative(answer["path"]) == answer["path"]
            assert answer["path"].startswith("main/")
