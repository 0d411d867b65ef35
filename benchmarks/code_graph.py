"""Indexing a tree of code: the first time, after one file changed, and when nothing did.

    python benchmarks/code_graph.py [FOLDER] [--files 2000]

The folder is the standard library of this Python where none is given; of it so many Python files
are copied, and committed to Git. Measured are

- first: everything from nothing, in one process and in as many as there are cores, beside
  `ast.parse` of the same files in one process;
- one changed: a function is added to one file (the median of 20 files), beside `ast.parse` of it;
- unchanged: nothing changed, beside `git status` of the same tree.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import shutil
import statistics
import subprocess
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from vault_kg.extract import filing
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.extract.indexing import Indexing, Report
from vault_kg.extract.roots import Root
from vault_kg.extract.updating import rules

CHANGES = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_path("stdlib")))
    parser.add_argument("--files", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        files = copied(options.folder, tree, options.files)
        size = sum(file.stat().st_size for file in files) / 1e6
        print(f"{len(files):,} files, {size:,.1f} MB")
        measure_first(Path(scratch), tree, files)
        graph = SqliteBackend(Path(scratch) / "graph.sqlite")
        index(graph, tree, in_processes=True)
        measure_changes(graph, tree, files)
        measure_unchanged(graph, tree)
        graph.close()


def copied(folder: Path, tree: Path, most: int) -> list[Path]:
    """Copy the first files of a folder, in the order of their paths, into a Git checkout."""
    found = sorted(
        path for path in folder.rglob("*.py")
        if "site-packages" not in path.parts and path.stat().st_size < 2_000_000
    )[:most]  # fmt: skip
    made = []
    for path in found:
        target = tree / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        made.append(target)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "made"]):
        git(tree, *command)
    return made


def measure_first(scratch: Path, tree: Path, files: list[Path]) -> None:
    parsed = seconds(lambda: parse(files))
    print(f"ast.parse                {parsed:8.2f} s")
    for in_processes in (False, True):
        graph = SqliteBackend(scratch / f"first-{in_processes}.sqlite")
        took = seconds(lambda graph=graph, many=in_processes: index(graph, tree, in_processes=many))
        counts = graph.reader(None).counts()
        nodes, edges = (sum(counts[what].values()) for what in ("nodes", "edges"))
        graph.close()
        name = "several processes" if in_processes else "one process"
        print(f"first, {name:18}{took:8.2f} s  {took / parsed:5.1f} x  "
              f"({nodes:,} nodes, {edges:,} edges)")  # fmt: skip


def measure_changes(graph: SqliteBackend, tree: Path, files: list[Path]) -> None:
    whole, alone, parsed = [], [], []
    for number, file in enumerate(files[:: max(1, len(files) // CHANGES)]):
        with file.open("a") as handle:
            handle.write(f"\n\ndef added_{number}():\n    return {number}\n")
        path = file.relative_to(tree).as_posix()
        alone.append(seconds(lambda path=path: index(graph, tree, path)))
        parsed.append(seconds(lambda file=file: parse([file])))
        with file.open("a") as handle:
            handle.write(f"\n\ndef again_{number}():\n    return added_{number}()\n")
        whole.append(seconds(lambda: index(graph, tree)))
    for name, times in (("named", alone), ("found by a look at all", whole), ("ast.parse", parsed)):
        print(f"one changed, {name:24}{statistics.median(times) * 1000:8.1f} ms")


def measure_unchanged(graph: SqliteBackend, tree: Path) -> None:
    time.sleep(2.1)  # until stamps alone can tell
    index(graph, tree)
    ours = statistics.median(seconds(lambda: index(graph, tree)) for _ in range(5))
    theirs = statistics.median(seconds(lambda: git(tree, "status", "--short")) for _ in range(5))
    print(f"unchanged               {ours * 1000:8.1f} ms  (git status {theirs * 1000:.1f} ms)")


def index(graph: SqliteBackend, tree: Path, *paths: str, in_processes: bool = False) -> Report:
    chosen = rules()
    if not in_processes:
        chosen = type(chosen)(chosen.extractor_for, chosen.resolver)
    run = Indexing(graph, Root("code", tree), chosen, lambda: "2026-01-01T00:00:00Z")
    report = run.some(paths) if paths else run.everything()
    if report.changed:
        filing.sweep(graph)
    return report


def parse(files: list[Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            with contextlib.suppress(SyntaxError, ValueError):
                ast.parse(file.read_bytes())


def git(tree: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=b", "-c", "user.email=b@b", *arguments],
        cwd=tree, check=True, capture_output=True,
    )  # fmt: skip


def seconds(run: Callable[[], object]) -> float:
    before = time.perf_counter()
    run()
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
