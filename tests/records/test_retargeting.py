"""Links of a text that get another target, and what of the text stays."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault_kg.records import links
from vault_kg.records.links import extract_links
from vault_kg.records.retargeting import MAX_READINGS, retargeted

LINKS = [
    "[[{}]]", "![[{}]]", "[[ {} |her]]", "[[{}#Notes|ada]]", "[[{}#^b1]]", "[her]({})",
    "[ada](<{}>)", '[her]( {}#Notes "ada")', "![her]({})", "> [[{}]]", "# On [[{}]]",
    "- and [[{}]], [her]({})", "| a |\n|---|\n| [[{}\\|her]] |",
    "[the-label]: <{}>", "[another]:\n  {}",
]  # fmt: skip
"""Paragraphs that lead to a target, written where the braces are."""

STAYS = [
    "```\n[[ada]]\n```", "~~~\n[x](ada)\n~~~", "    [[ada]]", "`[[ada]]` and ``[x](ada)``",
    "<!-- [[ada]] -->", "a <!-- [x](ada) --> b", '<a title="[[ada]]">', "\\[\\[ada]]",
    "\\[x](ada)", "ada, (ada) and [ada]", "[[ada-lovelace]] [x](ada.md) [[adamant]]",
    "[[x#ada|ada]]", "<ada:[[ada>", "[x](ada://ada)", "[x](mailto:ada)", "[[1]](ada:ada)",
]  # fmt: skip
"""Paragraphs that say `ada` and do not lead there."""


def written(paragraphs: list[str], target: str) -> str:
    """Join paragraphs; a heading between two ends whatever the first one began."""
    return "\n\n# .\n\n".join(text.replace("{}", target) for text in paragraphs)


@example(["- and [[{}]], [her]({})", "    [[ada]]"], "ada-lovelace", "\n")
@given(
    st.lists(st.sampled_from(LINKS + STAYS), max_size=20),
    st.sampled_from(["ada-lovelace", "lovelace", "a/ada/ada", "ad", "数学"]),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=300)
def test_every_link_gets_the_target_and_nothing_else_changes(
    paragraphs: list[str], new: str, newline: str
) -> None:
    body, after = (written(paragraphs, t).replace("\n", newline) for t in ("ada", new))
    assert retargeted(body, "ada", new) == after


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["ada", "[[", "]]", "[", "](", "]: ", ")", "<", ">", "`", "```", "<!--", "-->", "\\", "#",
             "|", "!", " ", "\n", "\n\n", "    ", "[[ada]]", "[x](ada)", "[ada]: ada", "\ue000"]
        ),
        max_size=30,
    ).map("".join),
    st.sampled_from(["QQ", "ada-ada", "a b", "a]]b"]),
)  # fmt: skip
@example("[[ada]]\n\n[ada]: ada", "QQ")
@example("[[ada]]\n\n[qq]: x", "QQ")
def test_the_links_are_as_wanted_or_the_text_is_left(body: str, new: str) -> None:
    before = extract_links(body)
    text = retargeted(body, "ada", new)
    if text is not None:
        assert extract_links(text) == [
            link._replace(target=new) if link.target == "ada" else link for link in before
        ]
        assert text.replace(new, "ada") == body.replace(new, "ada")


def test_a_definition_whose_label_is_the_target_too_is_changed() -> None:
    assert retargeted("[[ada]]\n\n[ada]: ada", "ada", "eve") == "[[ada]]\n\n[ada]: eve"


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("[[a b]] [x](a%20b)", "a b", "c"),  # written with an escape
        ("[[a]] [x](a)", "a", "b c"),  # a space ends the second
        ("[[a]]\n\n[b]: x", "a", "b"),  # would be the text of a link by reference
        ("[[a]]", "a", "b#c"),
        ("[[a]]", "a", "b]]"),
    ],
)
def test_a_text_of_which_one_link_cannot_be_changed_is_left(body: str, old: str, new: str) -> None:
    assert retargeted(body, old, new) is None


def test_a_text_without_such_a_link_is_the_same() -> None:
    assert retargeted("`[[ada]]` ada [[eve]]", "ada", "x") == "`[[ada]]` ada [[eve]]"
    assert retargeted("[[ada]]", "ada", "ada") == "[[ada]]"


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The length of each text that is read, in order."""
    read, found = links.read_layout, list[int]()

    def counted(body: str) -> links.Layout:
        found.append(len(body))
        return read(body)

    monkeypatch.setattr(links, "read_layout", counted)
    return found


@pytest.mark.parametrize("before", ["", "`[[ada]]` ", "<!-- [x](ada) -->\n\n", "`ada` "])
def test_many_links_are_changed_in_a_few_readings(readings: list[int], before: str) -> None:
    text = retargeted(before * 200 + "[[ada]] " * 200, "ada", "ada-lovelace")
    assert text == before * 200 + "[[ada-lovelace]] " * 200
    assert len(readings) <= 4


def test_marks_that_make_links_are_told_apart_within_a_bound(readings: list[int]) -> None:
    no_link_of_it = "[[ada]], [x](ada)\n\n"  # the first is the text of a link by reference
    for many, changed in ((5, True), (200, False)):
        readings.clear()
        text = retargeted(no_link_of_it * many + "[ada]: x", "ada", "eve")
        assert text == ("[[ada]], [x](eve)\n\n" * many + "[ada]: x" if changed else None)
        assert len(readings) <= MAX_READINGS + 2
