"""Documentation that is run: every command works and prints what is shown, generated pages are current.

What a page shows below a command is compared with what it prints: `…` stands for anything within a
line, and alone on a line for any lines.
"""

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


END = "\x1e"
"""Ends what a command prints; no command prints it."""


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """Return the commands of a page in order, each with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def is_shown(lines: list[str], printed: str) -> bool:
    """Say whether a page shows what was printed."""
    parts = (
        "(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + " *\n"
        for line in lines
    )
    return re.fullmatch("".join(parts), printed) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_command_of_a_page_runs_in_order(page: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:  # short, for the path of a socket
        run_page(page, Path(folder))


def run_page(page: Path, folder: Path) -> None:
    script = ["set -u; exec 2>&1"]
    told = commands(page)
    for number, (command, _) in enumerate(told):
        expected = EXPECTED_EXIT.search(command)
        script.append(command)
        code = expected[1] if expected else "0"
        script.append(f"test $? -eq {code} || {{ echo 'failed: command {number}'; exit 99; }}")
        script.append(f"printf '{END}'")
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
    assert done.returncode == 0, done.stdout[-4000:]
    printed = done.stdout.split(END)
    assert len(printed) == len(told) + 1
    for (command, lines), text in zip(told, printed, strict=False):
        assert not lines or is_shown(lines, text), f"$ {command}\n{text}"


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
