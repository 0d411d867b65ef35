"""The tools that need what only a real language says: roles, imports, tests, confidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extract.coded import labels
from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.extract import roots

FILES = {
    "app/__init__.py": "",
    "app/web.py": (
        "from fastapi import FastAPI\n\nfrom app.store import Store\n\napp = FastAPI()\n\n\n"
        '@app.get("/things")\ndef things():\n    """List the things."""\n'
        "    return Store().load()\n"
    ),
    "app/cli.py": (
        "import click\n\nfrom app.store import Store\n\n\n@click.command()\n"
        'def show():\n    click.echo(Store().load())\n\n\nif __name__ == "__main__":\n    show()\n'
    ),
    "app/store.py": (
        "from app import tools\n\n\nclass Store:\n    def load(self):\n        return tools.clean(1)\n\n"
        "    def forgotten(self):\n        return 2\n"
    ),
    "app/tools.py": (
        "import app.store\n\n\ndef clean(value):\n    return value\n\n\ndef unused():\n    return app\n"
    ),
    "tests/test_store.py": (
        "from app.store import Store\n\n\ndef test_load():\n    assert Store().load() == 1\n"
    ),
}


@pytest.fixture(scope="module")
def box() -> Iterator[VaultBox]:
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        made = VaultBox(Path(name) / "vault")
        for path, text in FILES.items():
            target = Path(name) / "project" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        roots.add(made.root, Path(name) / "project")
        made.call("graph_index")
        yield made
        made.ws.close()


def ask(box: VaultBox, name: str, **arguments: Any) -> dict[str, Any]:
    data: dict[str, Any] = box.call(name, **arguments)["data"]
    return data


def test_routes_and_commands_are_entry_points_and_contracts(box: VaultBox) -> None:
    data = ask(box, "graph_entrypoints")
    found = {(e["label"], e["entry_kind"]) for e in data["results"]}
    assert {("show", "cli"), ("things", "http"), ("test_load", "test")} <= found
    kinds = [e["entry_kind"] for e in data["results"]]
    assert kinds.index("http") > max(n for n, k in enumerate(kinds) if k in ("main", "cli"))
    assert kinds[-1] == "test" and data["total"] == len(found)
    only = ask(box, "graph_entrypoints", kind="http")
    assert (
        labels(only["results"]) == ["things"] and "declared:http" in only["results"][0]["reasons"]
    )
    contracts = ask(box, "graph_contracts")["buckets"]
    http = next(bucket for bucket in contracts if bucket["kind"] == "http")
    assert http["items"][0]["detail"]["route"] == "GET /things" and http["total"] == 1
    assert ask(box, "graph_contracts", kinds="zz")["total"] == 0


def test_a_circle_of_imports_is_found(box: VaultBox) -> None:
    data = ask(box, "graph_cycles", scope="imports")
    assert [set(c["members"]) for c in data["cycles"]] == [
        {"project:app/store.py", "project:app/tools.py"}
    ]


def test_what_no_test_reaches_and_what_nothing_uses(box: VaultBox) -> None:
    gap = set(labels(ask(box, "graph_test_gap")["results"]))
    assert {"things", "show", "unused", "forgotten"} <= gap and not {"load", "Store"} & gap
    dead = set(labels(ask(box, "graph_dead_code")["results"]))
    assert {"unused", "forgotten"} <= dead and not {"load", "clean", "things", "show"} & dead


def test_a_change_breaks_what_calls_it_and_tests_are_context(box: VaultBox) -> None:
    data = ask(box, "graph_impact", uid="app/store.py::Store.load", depth=1)
    assert set(labels(data["will_break"]["items"])) == {"things", "show", "test_load"}
    via = {i["via"] for tier in ("will_break", "should_review") for i in data[tier]["items"]}
    assert "tested_by" not in via and "contains" not in via
    confidences = {i["confidence"] for i in data["will_break"]["items"]}
    assert all(0.7 <= sure <= 1 for sure in confidences)


def test_every_edge_says_why_it_is_as_sure_as_it_is(box: VaultBox) -> None:
    data = ask(box, "graph_references", uid="app/store.py::Store.load", kinds="calls")
    for edge in data["references"]:
        assert edge["signals"] and edge["confidence"] == min(s["weight"] for s in edge["signals"])
        assert edge["line"] and edge["extractor"] == "python"


def test_a_graph_of_real_code_is_healthy(box: VaultBox) -> None:
    data = ask(box, "graph_doctor")
    assert data["healthy"], data["issues"]
    assert data["files"] == len(FILES)
