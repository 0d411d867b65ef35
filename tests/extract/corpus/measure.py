"""How right the edges of the labelled corpus are, by band of confidence.

In `tree`, a comment `#> target ; target` on a line says everything that the calls and references of
that line truly mean: `<file's stem>::<qualified name>`, the stem alone for the module,
`ext:<module>:<name>` outside the tree, or `-` for nothing that could be said. Types in annotations,
imports and reads of variables are not labelled.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vault_kg.extract import uids
from vault_kg.extract.extractors.python.extractor import PythonExtractor
from vault_kg.extract.model import Edge
from vault_kg.extract.resolve import Resolver
from vault_kg.extract.symbols import SymbolTable

TREE = Path(__file__).parent / "tree"
KINDS = frozenset({"calls", "constructs", "references", "dispatches", "inherits", "decorated_by"})
BANDS = ((1.0, 1.0), (0.9, 0.9), (0.7, 0.8), (0.4, 0.6), (0.1, 0.3))
_LABELS = re.compile(r"#> (.+)$")


@dataclass
class Band:
    """The edges of one band: how many were right, and those that were not."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.right + len(self.wrong)

    @property
    def precision(self) -> float:
        return self.right / self.count if self.count else 1.0


@dataclass
class Measured:
    """The bands, and which of the sites that have a target were found."""

    bands: dict[tuple[float, float], Band]
    sites: int
    missed: list[str]
    found: int


def labels() -> dict[tuple[str, int], set[str]]:
    """Return the labels of each labelled line, by path and line."""
    found = {}
    for file in sorted(TREE.rglob("*.py")):
        path = file.relative_to(TREE).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if match := _LABELS.search(line):
                found[path, number] = {part.strip() for part in match.group(1).split(";")}
    return found


def edges() -> list[Edge]:
    """Return every edge of the corpus, resolved."""
    extractor = PythonExtractor()
    table = SymbolTable()
    extractions = {}
    for file in sorted(TREE.rglob("*.py")):
        path = file.relative_to(TREE).as_posix()
        extractions[path] = extractor.extract(path, file.read_bytes())
        table.add(path, extractions[path])
    resolver = Resolver(table)
    found: list[Edge] = []
    for extraction in extractions.values():
        found += extraction.edges
        found += resolver.edges(extraction.references, extractor.name)
    return found


def spelled(uid: str) -> str:
    """Return a target as the labels spell it."""
    found = uids.parse(uid)
    assert found is not None
    if found.kind == "external":
        return f"ext:{found.module}:{found.name}"
    path = found.path or ""
    if found.name is None:
        return Path(path).stem
    stem = Path(path).stem if Path(path).stem != "__init__" else Path(path).parent.name
    return f"{stem}::{found.name}"


def measure() -> Measured:
    """Judge every edge by the labels of its line."""
    truth = labels()
    bands = {band: Band() for band in BANDS}
    reached: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in edges():
        if edge.kind not in KINDS:
            continue
        path = uids.path_of(edge.source) or ""
        target = spelled(edge.target)
        reached[path, edge.source].add(target)
        band = bands[_band(edge.confidence)]
        said = f"{path}:{edge.line} {edge.kind} {target} {[s.name for s in edge.signals]}"
        if target in truth.get((path, edge.line or 0), ()):
            band.right += 1
        else:
            band.wrong.append(said)
    everywhere: dict[str, set[str]] = defaultdict(set)
    for (path, _), targets in reached.items():
        everywhere[path] |= targets
    missed = [
        f"{path}:{line} {label}"
        for path, line, label in _sites(truth)
        if label not in everywhere[path]
    ]
    sites = len(list(_sites(truth)))
    return Measured(bands, sum(len(found) for found in truth.values()), missed, sites - len(missed))


def _sites(truth: dict[tuple[str, int], set[str]]) -> Iterator[tuple[str, int, str]]:
    for (path, line), found in truth.items():
        for label in sorted(found - {"-"}):
            yield path, line, label


def _band(confidence: float) -> tuple[float, float]:
    return next(band for band in BANDS if band[0] <= round(confidence, 2) <= band[1])


def report(measured: Measured) -> str:
    """Return the figures as a table."""
    lines = [f"{measured.sites} labelled sites", "band      edges  right  precision"]
    for (low, high), band in measured.bands.items():
        name = f"{low:.1f}" if low == high else f"{low:.1f}-{high:.1f}"
        lines.append(f"{name:8} {band.count:6} {band.right:6} {band.precision:10.3f}")
    total = measured.found + len(measured.missed)
    lines.append(f"recall: {measured.found} of {total} ({measured.found / total:.3f})")
    return "\n".join(lines)


if __name__ == "__main__":
    found = measure()
    for band in found.bands.values():
        print(*band.wrong, sep="\n")
    print("MISSED", *found.missed, sep="\n  ")
    print(report(found))
