"""Notes: a person's own Markdown is read as it is, found, linked, and never touched."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.index import links
from vault_kg.index.parsed import NOTE, parse_file

FILES = {
    "Home.md": """# Home

See [[Ada Lovelace]], [[ada lovelace#Notes|her notes]], [[Countess]], [[people/Ada Lovelace]],
![[picture.png]], [the engine](<machines/Analytical Engine.md>), [site](https://example.org) and
[[Nowhere]]. #start

`[[code]]` and #2024 are neither link nor tag.

````
```
[[fenced]] #fenced
```
````
""",
    "people/Ada Lovelace.md": """---
aliases: [Countess, Ada]
tags: [person/writer, 1815]
---
# Notes

Translated [[Analytical Engine]].
""",
    "machines/Analytical Engine.md": "A machine.\n\n    # comment\n\nSetext\n------\n\ntext\n",
    "Überblick.md": "---\ntitle: Ein Überblick\n---\nТекст о машине 解析機関。\n",
    "empty.md": "",
    "blank.md": " \n\n",
    "dashes.md": "---\n",
    "broken.md": "---\nkey: [\n---\nStill kiwi.\n",
    "crlf.md": "---\r\ntags: a\r\n---\r\nWindows kiwi\r\n",
    "bom.md": "\ufeff---\ntitle: Marked\n---\nkiwi",
    "late block.md": "\n---\ntitle: Not front matter\n---\nkiwi\n",
}


@pytest.fixture(scope="module")
def box() -> Iterator[VaultBox]:
    with fast_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        root = Path(folder) / "vault"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode())
        git = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "mine"]):
            subprocess.run([*git, *command], cwd=root, check=True)
        made = VaultBox(root)
        yield made
        made.ws.close()


def note(path: str) -> str:
    return f"doc:file:{path}"


def search(box: VaultBox, query: str, **more: Any) -> list[str]:
    return [hit["path"] for hit in box.call("knowledge_search", query=query, **more)["hits"]]


def test_indexing_changes_no_file_and_git_finds_the_folder_clean(box: VaultBox) -> None:
    box.scan()
    assert {name: (box.root / name).read_bytes() for name in FILES} == {
        name: text.encode() for name, text in FILES.items()
    }
    assert box.git("status", "--porcelain") == ""
    assert box.git("log", "--format=%s") == "mine"


def test_every_note_is_there_and_can_be_read(box: VaultBox) -> None:
    for name in FILES:
        view = box.get(note(name))
        assert view["kind"] == "note" and view["path"] == name


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Home", "Home.md"),
        ("countess", "people/Ada Lovelace.md"),
        ("Ein Überblick", "Überblick.md"),
        ("解析", "Überblick.md"),
        ("машине", "Überblick.md"),
        ("Marked", "bom.md"),
        ("empty", "empty.md"),
        ("Windows", "crlf.md"),
    ],
)
def test_a_note_is_found_by_title_alias_and_text(box: VaultBox, query: str, path: str) -> None:
    assert search(box, query)[0] == path


def test_a_note_says_its_names_as_they_are_written(box: VaultBox) -> None:
    assert box.get("doc:file:people/Ada Lovelace.md")["aliases"] == ["Countess", "Ada"]
    with_number = parse_file("release.md", b"---\ntitle: 1.10\n---\n")
    assert with_number.title == "1.10"


def test_a_note_with_broken_front_matter_is_found_by_its_text_and_reported(box: VaultBox) -> None:
    assert "broken.md" in search(box, "kiwi", limit=100)
    found = [(f["path"], f["line"]) for f in box.findings("broken_front_matter")]
    assert found == [("broken.md", 3), ("dashes.md", 1)]


def test_tags_of_the_front_matter_and_of_the_text_are_filters(box: VaultBox) -> None:
    assert search(box, "notes tag:person") == ["people/Ada Lovelace.md"]
    assert search(box, "notes tag:1815") == ["people/Ada Lovelace.md"]
    assert search(box, "home tag:start") == ["Home.md"]
    assert search(box, "home tag:2024") == search(box, "home tag:fenced") == []


def test_links_are_resolved_by_path_title_and_alias_whatever_their_case(box: VaultBox) -> None:
    db = box.ws.database
    ada, engine = note("people/Ada Lovelace.md"), note("machines/Analytical Engine.md")
    for target in ("Ada Lovelace", "ada lovelace", "Countess", "people/Ada Lovelace"):
        assert links.resolve(db, target, "Home.md") == [ada]
    assert links.resolve(db, "machines/Analytical Engine.md", "Home.md") == [engine]
    linking = {row[0] for row in links.linking_to(db, ada)}
    assert linking == {note("Home.md")}


def test_a_link_to_nothing_is_reported_with_its_line_and_code_is_no_link(box: VaultBox) -> None:
    found = [(f["path"], f["line"], f["message"]) for f in box.findings("unresolved_link")]
    assert [(path, line) for path, line, _ in found] == [("Home.md", 5)]
    assert "Nowhere" in found[0][2]


def test_a_note_of_many_links_is_gone_through_once_and_not_once_for_each(box: VaultBox) -> None:
    plan = box.ws.database.rows(
        "EXPLAIN QUERY PLAN SELECT 1 FROM link JOIN record USING (key) WHERE NOT " + links._CLEAR
    )
    assert any("link_name_key (key=? AND ordinal=?)" in step for *_, step in plan), plan


def test_a_link_is_resolved_by_the_names_that_stand_when_it_is_asked(box: VaultBox) -> None:
    db = box.ws.database
    assert links.resolve(db, "Nowhere", "Home.md") == []
    path = box.put("new/Nowhere.md", "Here.")
    box.scan()
    assert links.resolve(db, "Nowhere", "Home.md") == [note("new/Nowhere.md")]
    path.unlink()
    box.scan()
    assert links.resolve(db, "Nowhere", "Home.md") == []


@pytest.mark.parametrize(
    ("front", "tags", "aliases"),
    [
        ("tags: 2024", {"2024"}, set()),
        ("tags: [a, 1, 2024-01-05, null]", {"a", "1", "2024-01-05"}, set()),
        ("tags: a, b", {"a", "b"}, set()),
        ("tags: '#a'", {"a"}, set()),
        ("aliases: Ada", set(), {"ada"}),
        ("aliases: [Ada, 7]\nalias: Countess", set(), {"ada", "7", "countess"}),
        ("aliases: {a: b}", set(), set()),
        ("aliases: 0755\ntags: [1.10, 1e3]", {"1.10", "1e3"}, {"0755"}),
        ("title:", set(), set()),
        ("tags:\naliases:", set(), set()),
    ],
)
def test_front_matter_in_any_form_is_read(front: str, tags: set[str], aliases: set[str]) -> None:
    parsed = parse_file("a.md", f"---\n{front}\n---\ntext\n".encode())
    assert (parsed.kind, parsed.title) == (NOTE, "a")
    assert set(parsed.tags) == tags
    assert {name for name, source in parsed.names if source == "alias"} == aliases


def test_passages_follow_the_headings_that_a_reader_sees() -> None:
    text = "---\ntags: a\n---\nlead\n\n# One\n\n```\n# no\n```\n\nTwo\n===\n\n> # quoted\n\nlast\n"
    parsed = parse_file("a.md", text.encode())
    places = [(e.passage.heading_path, e.passage.start_line) for e in parsed.entries]
    assert places == [((), 4), (("One",), 6), (("Two",), 12)]
    assert [e.passage.ordinal for e in parsed.entries] == [0, 1, 2]
