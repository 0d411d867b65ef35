"""Everything derived can be thrown away: what is made again answers byte for byte the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.index import schema

SAMPLE = Path(__file__).parents[2] / "sample_vault"

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("knowledge_records", {"limit": 1_000}),
    ("knowledge_records", {"limit": 1_000, "lifecycle": "all"}),
    ("knowledge_diagnostics", {"limit": 1_000}),
    ("knowledge_lookup", {"text": "Ada Lovelace"}),
    *(
        ("knowledge_search", {"query": query, "limit": 100, "perRecord": per_record})
        for query in (
            "Bernoulli numbers",
            "engine",
            "解析",
            "who wrote the first program",
            "Note G",
        )
        for per_record in (True, False)
    ),
]


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultBox]:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    with fast_folder() as folder:
        root = Path(folder) / "vault"
        ignored = shutil.ignore_patterns(".vault-kg", ".git")
        shutil.copytree(SAMPLE, root, ignore=ignored)
        made = VaultBox(root)
        yield made
        made.ws.close()


def answers(box: VaultBox) -> str:
    found = [box.call(name, **arguments) for name, arguments in QUESTIONS]
    pages = [record["id"] for record in found[0]["records"] if record["kind"] == "page"]
    found += [box.call("knowledge_connections", id=page, limit=100) for page in pages]
    found += [box.call("knowledge_get", id=page) for page in pages]
    return json.dumps(found, ensure_ascii=False)


def test_deleting_everything_derived_and_indexing_again_gives_the_same_answers(
    box: VaultBox,
) -> None:
    page = box.lookup("Ada Lovelace")
    box.withdraw(box.claim(page, "She never wrote."))
    box.correct(box.claim(page, "She was born in 1816."), box.claim_values(page, "In 1815."))
    for number in range(30):
        box.put(f"equal {number}.md", "The engine is an engine of engines.")
    box.scan()
    (box.root / "equal 7.md").unlink()
    box.put("equal 8.md", "The engine is an engine of engines, edited.")
    box.scan()
    before, position = answers(box), box.position
    schema.drop(box.ws.database)
    box.reopen()
    box.scan()
    assert box.position == position, "indexing again is no edit"
    assert answers(box) == before


def test_other_rules_of_a_parser_make_everything_anew_by_themselves(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answers(box)
    monkeypatch.setattr(schema, "VERSION", f"{schema.VERSION}-other")
    box.reopen()
    assert box.ws.database.value("SELECT count(*) FROM record") == 0
    assert not box.ws.scanned
    box.scan()
    assert answers(box) == before


def test_an_answer_is_never_older_than_the_file_of_the_record_it_is_of(box: VaultBox) -> None:
    page = box.lookup("Ada Lovelace")
    path = box.path(page)
    path.write_bytes(path.read_bytes() + b"\nA line that nobody scanned.\n")
    view = box.get(page)
    assert "nobody scanned" in view["body"] and view["revision"] == 2


def test_opening_waits_for_no_index(box: VaultBox) -> None:
    schema.drop(box.ws.database)
    box.reopen()
    assert not box.ws.scanned
    assert box.call("knowledge_status")["records"]["page"] == 0
