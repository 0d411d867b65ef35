"""Indexing a tree of code: the first time, after one file changed, and when nothing did.

    python benchmarks/code_graph.py [FOLDER] [--files 2000]

The folder is the standard library of this Python where none is given; of it so many Python files
are copied, and committed to Git. Measured are

- first: everything from nothing, in one process and in as many as there are cores, beside
  `ast.parse` of the same files in one process;
- one changed: a function is added to one file (the median of 20 files), beside `ast.parse` of it;
- unchanged: nothing changed, beside `git status` of the same tree.

Each time is given as it passed, and, in brackets, as processors of this process and of those that it
started were busy: on a machine with other work, only the second tells anything.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import resource
import shutil
import statistics
import subprocess
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from vault_kg.extract import filing
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.extract.indexing import Indexing, Report
from vault_kg.extract.roots import Root
from vault_kg.extract.updating import rules

CHANGES = 20
LOOKS = 9


class Took(NamedTuple):
    """Seconds that passed, and seconds that processors were busy."""

    wall: float
    busy: float

    def over(self, other: Took) -> str:
        """Return how many times as long this took as something else."""
        return f"{self.wall / other.wall:5.2f} x ({self.busy / other.busy:5.2f} x)"

    def __str__(self) -> str:
        return f"{self.wall:8.2f} s ({self.busy:6.2f} s)"

    @property
    def ms(self) -> str:
        """Return it in milliseconds."""
        return f"{self.wall * 1000:8.2f} ms ({self.busy * 1000:6.2f} ms)"


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
    parsed = took(lambda: parse(files))
    print(f"ast.parse                {parsed}")
    for in_processes in (False, True):
        graph = SqliteBackend(scratch / f"first-{in_processes}.sqlite")
        ours = took(lambda graph=graph, many=in_processes: index(graph, tree, in_processes=many))
        counts = graph.reader(None).counts()
        nodes, edges = (sum(counts[what].values()) for what in ("nodes", "edges"))
        graph.close()
        name = "several processes" if in_processes else "one process"
        print(f"first, {name:18}{ours} {ours.over(parsed)}  ({nodes:,} nodes, {edges:,} edges)")


def measure_changes(graph: SqliteBackend, tree: Path, files: list[Path]) -> None:
    whole, alone, parsed = [], [], []
    for number, file in enumerate(files[:: max(1, len(files) // CHANGES)]):
        with file.open("a") as handle:
            handle.write(f"\n\ndef added_{number}():\n    return {number}\n")
        path = file.relative_to(tree).as_posix()
        alone.append(took(lambda path=path: index(graph, tree, path)))
        parsed.append(took(lambda file=file: parse([file])))
        with file.open("a") as handle:
            handle.write(f"\n\ndef again_{number}():\n    return added_{number}()\n")
        whole.append(took(lambda: index(graph, tree)))
    base = median(parsed)
    for name, times in (("named", alone), ("found by a look at all", whole), ("ast.parse", parsed)):
        found = median(times)
        print(f"one changed, {name:24}{found.ms} {found.over(base)}")


def measure_unchanged(graph: SqliteBackend, tree: Path) -> None:
    time.sleep(2.1)  # until stamps alone can tell
    index(graph, tree)  # hashes what was young
    index(graph, tree)  # finds everything as it was
    ours, theirs = [], []
    for _ in range(LOOKS):
        ours.append(took(lambda: index(graph, tree)))
        theirs.append(took(lambda: git(tree, "status", "--short")))
    mine, base = median(ours), median(theirs)
    print(f"unchanged               {mine.ms} {mine.over(base)}  (git status {base.ms})")


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


def took(run: Callable[[], object]) -> Took:
    busy, wall = _busy(), time.perf_counter()
    run()
    return Took(time.perf_counter() - wall, _busy() - busy)


def median(times: list[Took]) -> Took:
    return Took(*(statistics.median(each) for each in zip(*times, strict=True)))


def _busy() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
