"""Running a module of ours in a process beside this one: its command line and its environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def command(module: str, root: Path) -> list[str]:
    """Return what runs a module on a vault's folder."""
    # -P: never import from the current folder, which may be somebody's vault.
    return [sys.executable, "-P", "-m", module, os.fspath(root)]


def environment() -> dict[str, str]:
    """Return this process's environment, in which our modules are found."""
    ours = os.fspath(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH")
    return dict(os.environ, PYTHONPATH=os.pathsep.join([ours, *([known] if known else [])]))
