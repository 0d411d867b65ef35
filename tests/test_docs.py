"""Documentation that is run: every command in it works, and the generated pages are up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted((ROOT / "docs/tutorial").glob("*.md")),
    *sorted((ROOT / "docs/how-to").glob("*.md")),
]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXPECTED_EXIT = re.compile(r"#\s*exit (\d+)\s*$")


def commands(page: Path) -> list[str]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_command_of_a_page_runs_in_order(page: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:  # short, for the path of a socket
        run_page(page, Path(folder))


def run_page(page: Path, folder: Path) -> None:
    script = ["set -u"]
    for number, command in enumerate(commands(page)):
        expected = EXPECTED_EXIT.search(command)
        script.append(command)
        code = expected[1] if expected else "0"
        script.append(f"test $? -eq {code} || {{ echo 'failed: command {number}' >&2; exit 99; }}")
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "VAULT_KG_EMBEDDING_MODEL": "off",
        "LC_ALL": "C.UTF-8",
    }
    (folder / "home").mkdir()
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_the_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/reference.py"), "--check"],
        capture_output=True, text=True, env=os.environ | {"COLUMNS": "80"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [t for t in targets if "://" not in t]
    missing = [t for t in local if not (page.parent / t).exists()]
    assert not missing
