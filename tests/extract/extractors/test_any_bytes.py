"""Whatever the bytes are, an extractor returns what it read or says why it could not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extract.corpus.measure import TREE
from vault_kg.extract import uids
from vault_kg.extract.model import Extraction
from vault_kg.extract.protocol import ExtractorError
from vault_kg.extract.registry import extractor_for
from vault_kg.extract.resolve import resolve
from vault_kg.extract.symbols import SymbolTable

SAMPLES = Path(__file__).parent / "samples"
TEXTS = {
    "md": b"---\ntitle: x\n---\n# A\n\n[b](c.md#d) [[e|f]] `a/b.py::C.d`\n\n```\n# no\n```\n",
    "toml": b'[a.b]\nc = "d.e:f"\n[[g]]\nh = {i = [1, 2]}\n',
    "yaml": b"a: &x\n  b: [c, {d: e}]\nf: *x\n",
    "json": b'{"a": {"b": [1, {"c": "d.e"}]}, "f": "g/h.py"}',
}


def sources() -> list[tuple[str, bytes]]:
    """Return a suffix and the content of real files, one for each language and some Python."""
    found = [(path.suffix[1:], path.read_bytes()) for path in sorted(SAMPLES.rglob("*.*"))]
    found += [("py", path.read_bytes()) for path in sorted(TREE.rglob("*.py"))]
    return [pair for pair in found if pair[0] != "txt"] + list(TEXTS.items())


def extracted(suffix: str, content: bytes) -> Extraction | None:
    found = extractor_for(f"pkg/a.{suffix}")
    assert found is not None
    try:
        return found.extract(f"pkg/a.{suffix}", content)
    except ExtractorError as error:
        assert str(error)
        return None


def check(suffix: str, content: bytes) -> None:
    found = extracted(suffix, content)
    if found is None:
        return
    assert found == extracted(suffix, content)
    known = {node.uid for node in found.nodes}
    assert len(known) == len(found.nodes)
    assert all(uids.parse(node.uid) for node in found.nodes)
    assert all(edge.source in known and edge.target in known for edge in found.edges)
    assert all(reference.source in known for reference in found.references)
    table = SymbolTable()
    table.add(f"pkg/a.{suffix}", found)
    for edge in resolve(found.references, table, "x"):
        assert 0.1 <= edge.confidence <= 1
        assert uids.parse(edge.target)


@pytest.mark.parametrize("suffix", sorted({suffix for suffix, _ in sources()}))
@given(content=st.binary(max_size=60))
@settings(max_examples=40, deadline=None)
def test_random_bytes(suffix: str, content: bytes) -> None:
    check(suffix, content)


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_real_files_with_pieces_cut_doubled_and_moved(data: st.DataObject) -> None:
    suffix, content = data.draw(st.sampled_from(sources()))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 200)))
        piece = data.draw(
            st.sampled_from([b"", content[start:end] * 2, b"(", b"}", b"\n", b"::", b"\xff"])
        )
        content = content[:start] + piece + content[end:]
    check(suffix, content)
