"""The walls around the UI: what it imports, and what it may change."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tui.desk import WRITES
from vault_kg.operations import registry

PACKAGE = Path(__file__).parents[2] / "tui"
MODULES = sorted(PACKAGE.rglob("*.py"))
OPERATIONS = {"vault_kg.errors", "vault_kg.operations", "vault_kg.operations.caller"}
ALLOWED = {
    "desk.py": OPERATIONS | {"vault_kg.serve.engine"},
    "engines.py": OPERATIONS
    | {f"vault_kg.serve{name}" for name in ("", ".attached", ".engine", ".keeper")},
    "plain.py": {"vault_kg.cli.revealing"},
}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_vault_is_reached_through_the_operations_only(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    named |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    ours = {name for name in named if name.split(".")[0] == "vault_kg"}
    assert ours <= ALLOWED.get(path.name, {"vault_kg.errors"})


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 300


def test_what_is_written_here_are_operations_that_change_something() -> None:
    known = registry.operations()
    assert all(not known[name].read_only for name in WRITES)
    assert not {"knowledge_correct", "knowledge_withdraw", "knowledge_merge"} & WRITES
