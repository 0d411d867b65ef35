"""How fast the command line starts: `vault-kg --help` beside `python -c "import click"`.

Both are run in turn, so that they meet the same load, and the medians are compared. The target is
at most three times. The time of an operation in a small vault is shown too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET = 3.0
COMMANDS = {
    "import click": [sys.executable, "-c", "import click"],
    "vault-kg --help": [sys.executable, "-m", "vault_kg.cli", "--help"],
    "vault-kg show --help": [sys.executable, "-m", "vault_kg.cli", "show", "--help"],
}


def seconds(command: list[str]) -> float:
    """Return how long a command takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ})
    return time.perf_counter() - began


def main() -> int:
    """Run the comparison and say whether the target is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "note.md").write_text("# A note\n\nOf no importance.\n")
        call = [sys.executable, "-m", "vault_kg.cli", "call", "knowledge_status", "--vault", folder]
        subprocess.run([*call[:3], "init", folder], check=True, stdout=subprocess.DEVNULL)
        commands = COMMANDS | {"vault-kg call knowledge_status": call}
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(asked.runs):
            for name, command in commands.items():
                taken[name].append(seconds(command))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    ratio = medians["vault-kg --help"] / medians["import click"]
    if asked.json:
        print(json.dumps({"medians": medians, "ratio": ratio, "target": TARGET}))
    else:
        for name, median in medians.items():
            print(f"{name:32} {median * 1000:8.1f} ms")
        print(f"ratio {ratio:.2f}, target at most {TARGET:g}")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
