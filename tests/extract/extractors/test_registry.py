"""Which extractor reads a file; a missing grammar costs its language only; the stub of a new one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vault_kg.extract import registry
from vault_kg.extract.extractors.nodes import is_test_path
from vault_kg.extract.extractors.treesitter import grammars
from vault_kg.extract.protocol import GrammarMissing

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "python"), ("a/b.PYI", "python"), ("README.md", "markdown"), ("x.toml", "toml"),
        (".github/a.yml", "yaml"), ("package.json", "json"), ("a.mjs", "javascript"),
        ("a.tsx", "typescript"), ("a.jsx", "javascript"),
        ("a.go", "go"), ("a.rs", "rust"), ("A.java", "java"), ("a.c", "c"), ("a.h", "cpp"), ("a.cc", "cpp"),
    ],
)  # fmt: skip
def test_a_suffix_has_its_extractor(path: str, name: str) -> None:
    found = registry.extractor_for(path)
    assert found is not None
    assert (found.name, found.version) == (name, 1)


@pytest.mark.parametrize("path", ["Makefile", "a.png", "py", ".py", "a.py.orig", "a."])
def test_other_files_have_none(path: str) -> None:
    assert registry.extractor_for(path) is None


def test_the_suffixes_of_the_registry_are_those_of_the_extractors() -> None:
    assert registry.missing() == {}
    for suffixes in registry.EXTRACTORS.values():
        found = registry.extractor_for("a" + suffixes[0])
        assert found is not None
        assert found.suffixes == frozenset(suffixes)


def test_a_missing_grammar_says_so() -> None:
    with pytest.raises(GrammarMissing, match="pip install tree-sitter-nothing"):
        grammars.parser("tree_sitter_nothing")


def test_a_missing_grammar_costs_its_language_only() -> None:
    script = (
        "import sys; sys.modules['tree_sitter_go'] = None\n"
        "from vault_kg.extract import registry\n"
        "print(registry.extractor_for('a.go'), registry.extractor_for('a.rs').name, registry.missing())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("None rust {'GoExtractor': 'tree-sitter-go is not installed")


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/helpers.py", True), ("pkg/test_a.py", True), ("pkg/a_test.go", True), ("a.spec.ts", True),
        ("src/FooTest.java", True), ("conftest.py", True), ("src/latest.py", False),
        ("pkg/contest.py", False), ("testimony/a.py", False), ("src/attest.go", False),
        ("a/__tests__/b.js", True), ("src/a.ts", False),
    ],
)  # fmt: skip
def test_files_of_tests(path: str, is_test: bool) -> None:
    assert is_test_path(path) is is_test


def test_a_stub_is_written_with_a_test_that_passes(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "vault_kg", tmp_path / "vault_kg", ignore=shutil.ignore_patterns("__pycache__")
    )
    tests = tmp_path / "tests" / "extract" / "extractors"
    tests.mkdir(parents=True)
    shutil.copy(ROOT / "tests/extract/extractors/reading.py", tests)
    command = [
        sys.executable,
        str(ROOT / "scripts/new_extractor.py"),
        "--lang",
        "lua",
        "--suffix",
        ".lua",
    ]
    made = subprocess.run(
        [*command, "--root", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "vault_kg/extract/extractors/lua.py" in made.stdout
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests / "test_lua.py")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    again = subprocess.run(
        [*command, "--root", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "there already" in again.stderr
    style = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml")]
    subprocess.run([*style, str(tmp_path / "vault_kg/extract/extractors/lua.py")], check=True)
