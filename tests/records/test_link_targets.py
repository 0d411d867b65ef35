"""What a link leads to: by path, then by file name, then by title, then by alias."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vault_kg.records.link_targets import Candidate, choose, link_names, names_of
from vault_kg.records.links import Link, extract_links

ROWS = [
    ("pg_ada", "main/pages/Person/ada-lovelace.md", "Ada Lovelace", ["Ada", "Countess"]),
    ("pg_tcp", "main/pages/Topic/tcp-ip.md", "TCP/IP", []),
    ("doc:note", "notes/Note.md", "A note", ["Shared"]),
    ("doc:deep", "notes/deep/er/Note.md", None, []),
    ("doc:two-a", "x/Twice.md", None, ["Shared"]),
    ("doc:two-b", "y/Twice.md", None, []),
    ("doc:cafe", "notes/Café.md", None, []),
    ("doc:space", "notes/a b.md", None, []),
    ("doc:dot", "notes/v1.2.md", None, []),
    ("doc:title", "z/other.md", "Note", []),
    ("doc:root", "Root.md", None, []),
]


class LinkTargets:
    """Everything that a link can lead to, as uid, path, title and aliases."""

    def __init__(self, rows: list[tuple[str, str, str | None, list[str]]]) -> None:
        self._at = {path: uid for uid, path, _, _ in rows}
        self._known = [
            Candidate(uid, path, name, source)
            for uid, path, title, aliases in rows
            for source, name in names_of(uid, path, title, aliases)
        ]

    def resolve(self, link: Link, from_path: str) -> list[str]:
        if not link.target:
            return [self._at[from_path]] if from_path in self._at else []
        wanted = link_names(link.target)
        return choose(link.target, from_path, [c for c in self._known if c.name in wanted])


TARGETS = LinkTargets(ROWS)


def resolve(text: str, from_path: str = "elsewhere/from.md") -> list[str]:
    (link,) = extract_links(text)
    return TARGETS.resolve(link, from_path)


@pytest.mark.parametrize(
    "text",
    [
        "[[Ada]]",
        "[[ada]]",
        "[[Ada Lovelace]]",
        "[[ada lovelace]]",
        "[[Ada Lovelace#Notes|her notes]]",
        "[[ADA  LOVELACE]]",
        "[[Countess|x]]",
        "[[ada-lovelace]]",
        "[[pages/Person/ada-lovelace]]",
        "[[main/pages/Person/ada-lovelace.md]]",
        "[x](/main/pages/Person/ada-lovelace.md)",
        "[x](../main/pages/Person/ada-lovelace.md)",
        "[[pg_ada]]",
        "![[Ada]]",
    ],
)
def test_path_file_name_title_alias_and_id_lead_to_the_record(text: str) -> None:
    assert resolve(text) == ["pg_ada"]


@pytest.mark.parametrize(
    ("text", "from_path", "uids"),
    [
        ("[[Note]]", "elsewhere/from.md", ["doc:note"]),
        ("[[Note]]", "notes/deep/er/from.md", ["doc:deep"]),
        ("[[er/Note]]", "elsewhere/from.md", ["doc:deep"]),
        ("[x](Note.md)", "notes/from.md", ["doc:note"]),
        ("[x](deep/er/Note.md)", "notes/from.md", ["doc:deep"]),
        ("[x](../../Note.md)", "notes/deep/er/Note.md", ["doc:note"]),
        ("[[Twice]]", "elsewhere/from.md", ["doc:two-a", "doc:two-b"]),
        ("[[Twice]]", "y/from.md", ["doc:two-b"]),
        ("[[x/Twice]]", "y/from.md", ["doc:two-a"]),
        ("[[Shared]]", "elsewhere/from.md", ["doc:note", "doc:two-a"]),
    ],
)
def test_the_nearest_file_of_a_name_is_meant_or_else_all_of_them(
    text: str, from_path: str, uids: list[str]
) -> None:
    assert resolve(text, from_path) == uids


def test_unicode_form_and_case_do_not_matter() -> None:
    assert resolve("[[CAFÉ]]") == resolve("[[cafe\u0301]]") == ["doc:cafe"]


def test_a_title_with_a_slash_is_found() -> None:
    assert resolve("[[TCP/IP]]") == ["pg_tcp"]


def test_a_dot_in_a_name_is_no_suffix() -> None:
    assert resolve("[[v1.2]]") == resolve("[x](../notes/v1.2.md)") == ["doc:dot"]


def test_a_link_to_a_place_in_its_own_file_leads_to_that_file() -> None:
    assert resolve("[[#Here]]", "notes/Note.md") == ["doc:note"]
    assert resolve("[[#Here]]", "nowhere.md") == []


@pytest.mark.parametrize(
    "text", ["[[Nobody]]", "[[nowhere/Ada]]", "[x](../../../etc/passwd)", "[[.]]"]
)
def test_a_link_to_nothing_is_broken(text: str) -> None:
    assert resolve(text) == []


def test_a_file_spelled_exactly_goes_before_one_of_another_case() -> None:
    both = LinkTargets([("lower", "readme.md", None, []), ("upper", "README.md", None, [])])
    (link,) = extract_links("[[README]]")
    assert both.resolve(link, "x.md") == ["upper"]
    (link,) = extract_links("[[Readme]]")
    assert both.resolve(link, "x.md") == ["lower", "upper"]


def test_a_letter_that_folds_to_a_space_is_part_of_a_name() -> None:
    one = LinkTargets([("it", "folder/¯.md", None, [])])
    (link,) = extract_links("[[¯]]")
    assert one.resolve(link, "x.md") == ["it"]


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@settings(max_examples=500)
@given(NAMES)
def test_whatever_a_file_is_called_its_own_name_leads_to_it(name: str) -> None:
    assume(not name.lower().endswith(".md"))  # that suffix of a link is never part of a name
    path = f"folder/{name.replace('/', '-')}.md"
    stem = path[len("folder/") : -3]
    found = [Candidate("it", path, key, source) for source, key in names_of("it", path, None, [])]
    candidates = [c for c in found if c.name in link_names(stem)]
    assert choose(stem, "from.md", candidates) == ["it"]
