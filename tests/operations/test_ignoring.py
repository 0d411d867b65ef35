"""Lines of `.gitignore` and `.gitattributes` that mean nothing: the others count."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.index import ignoring

ODD = ["build\\", "!", "\\", "x\\", "[z-a]", "![z-a]"]
LINES = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)
PATTERN_LIKE = st.text("a/\\!#*?[]^-z .&|~(){}\t\r\x0c\u2028", max_size=8)


@given(LINES | PATTERN_LIKE, LINES | PATTERN_LIKE)
@example("build\\", "[z-a]")
def test_no_line_raises_or_keeps_another_from_counting(before: str, after: str) -> None:
    with fast_folder() as folder:
        root = Path(folder)
        text = f"{before}\ndrafts/\n{after}\n*.tmp.md\n"
        (root / ".gitignore").write_bytes(text.encode())
        assert ignoring.ignored(root, "k.tmp.md")
        decided_after = ignoring.rules(str(root), "")[0].patterns[1:-1]
        if not any(p.fullmatch("drafts/") and not excludes for p, excludes in decided_after):
            assert ignoring.ignored(root, "drafts/a.md")
        ignoring.reason(root, "a/b.md")
        list(ignoring.meaningless(root, [""]))


@given(LINES | PATTERN_LIKE)
def test_no_line_of_attributes_raises(line: str) -> None:
    ignoring.matcher(line.split()[0] if line.split() else line)


@pytest.mark.parametrize("line", ODD)
def test_an_odd_line_is_told_and_the_others_count(vault: VaultBox, line: str) -> None:
    page = vault.page()
    vault.put("drafts/a.md", "# Kiwi\n")
    vault.put(".gitignore", f"# mine\n\n{line}\ndrafts/\n")
    vault.put(".gitattributes", f"{line} filter=other\n*.md filter=crypt\n")
    vault.scan()
    (finding,) = vault.findings("gitignore_line")
    assert (finding["path"], finding["line"], finding["severity"]) == (".gitignore", 3, "warning")
    assert f"`{line}`" in finding["message"] and finding["hint"]
    assert vault.call("knowledge_search", query="kiwi")["hits"] == []
    assert vault.findings("git_filter")[0]["line"] == 2
    assert vault.get(page)["eligible"]
    assert vault.page("Another")


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_part_of_a_pattern(
    tmp_path: Path,
) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfdrafts/\r\n*.tmp.md\r\n")
    assert ignoring.ignored(tmp_path, "drafts/a.md") and ignoring.ignored(tmp_path, "k.tmp.md")
