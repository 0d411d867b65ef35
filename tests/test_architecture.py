"""The walls of the house: which package may import which, and where SQL may be written."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "vault_kg"

CORE = {"errors", "records", "state", "store", "index", "operations", "embedding"}
"""What the parts that stand on the core may import; never one another."""

ALLOWED = {
    "errors": set(),
    "records": {"errors"},
    "state": {"errors"},
    "store": {"errors", "records", "state"},
    "embedding": {"errors"},
    "index": {"errors", "records", "state", "store", "embedding"},
    "operations": {"errors", "records", "state", "store", "index", "embedding"},
    "consolidation": CORE,
    "extract": CORE,
    "ingest": CORE,
    "maintain": CORE,
    "serve": {"errors", "operations", "embedding"},
    "cli": {"errors", "operations", "embedding", "serve", "extract", "ingest", "maintain"},
}
SQL_FOLDERS = ("state", "index", "extract/backends")
SQL_WORDS = ("SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE TABLE", "PRAGMA ")


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE or p.stem == "errors")


def owner(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> set[str]:
    """Every package of ours that a module imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "vault_kg" and len(parts) > 1 and (PACKAGE / parts[1]).exists():
                found.add(parts[1])
            elif parts[0] == "vault_kg" and parts[1:2] == ["errors"]:
                found.add("errors")
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    mine = owner(path)
    wrong = imported(path) - ALLOWED[mine] - {mine}
    assert not wrong, f"{mine} may not import {sorted(wrong)}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_sql_is_written_only_where_tables_are_owned(path: Path) -> None:
    if any(path.is_relative_to(PACKAGE / folder) for folder in SQL_FOLDERS):
        return
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [t for t in texts if t.lstrip().startswith(SQL_WORDS)]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=lambda p: p.parent.name)
def test_a_folder_says_what_it_owns(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text and 1 <= len(text.splitlines()) <= 8
