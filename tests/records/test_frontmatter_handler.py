"""Programs that use the python-frontmatter library can read with the types of records."""

from __future__ import annotations

from pathlib import Path

import frontmatter
import pytest

from vault_kg.records.frontmatter import FrontMatterError
from vault_kg.records.frontmatter_handler import RecordYAMLHandler

TEXT = "---\nat: 2024-01-05\nflag: no\nn: 0o17\n...\n# Title\n\n---\n"


def test_the_library_reads_a_file_with_our_types(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text(TEXT, encoding="utf-8")
    post = frontmatter.load(str(path), handler=RecordYAMLHandler())
    assert post.metadata == {"at": "2024-01-05", "flag": "no", "n": 15}
    assert post.content == "# Title\n\n---"


def test_what_the_library_writes_reads_back(tmp_path: Path) -> None:
    post = frontmatter.Post("text", RecordYAMLHandler(), at="2024-01-05", tags=["yes", "1"], n=1)
    again = frontmatter.loads(frontmatter.dumps(post), handler=RecordYAMLHandler())
    assert again.metadata == post.metadata
    assert again.content == "text"


def test_a_file_without_front_matter_is_all_content() -> None:
    post = frontmatter.loads("# Title", handler=RecordYAMLHandler())
    assert (post.metadata, post.content) == ({}, "# Title")
    assert not RecordYAMLHandler().detect("# Title")
    assert RecordYAMLHandler().detect(TEXT)


@pytest.mark.parametrize("block", ["a: !foo 1", "- a", "a: 1\na: 2"])
def test_what_records_refuse_is_refused_here_too(block: str) -> None:
    with pytest.raises(FrontMatterError):
        frontmatter.loads(f"---\n{block}\n---\n", handler=RecordYAMLHandler())
