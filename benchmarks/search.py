"""Measure how fast search is, beside a bare FTS5 query and one numpy product.

    python benchmarks/search.py [--notes 34000] [--queries 200] [--keep FOLDER] [--json]

A vault of generated notes is indexed (34,000 have a little over 100,000 passages) and every passage
gets a made-up vector, since only the time to compare them is measured. Each query is two to five
words of some passage. It is asked in turn, so that all meet the same load, as

- bare: the same FTS5 expression on the same table, best 10 by bm25;
- text: the operation `knowledge_search`, mode text, with snippets, evidence and the true total;
- numpy: one float32 product with every vector, best 10 taken;
- hybrid: all of `knowledge_search` but the embedding of the query.

The nearest passages are also compared with sqlite-vec's own exact scan. Memory is the peak of a
process that opens the vault and asks every query by text and hybrid, without the two beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import vaults

from vault_kg.embedding.job import PassageVectors
from vault_kg.index import fts, scope, scoring, search, shown
from vault_kg.index.listing import Filter
from vault_kg.index.query import parse_query, to_match
from vault_kg.index.vector_models import load_extension
from vault_kg.index.vectors import Vectors
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

DIMENSION = 384
EVERYTHING = ("page", "claim", "relationship", "note")


class MadeUp:
    """Stands in for the model: random unit vectors, the same for the same text."""

    def embed_passages(self, texts: list[str]) -> PassageVectors:
        """Return a vector for each text."""
        ones = np.ones(len(texts), np.int32)
        made = np.stack([vector(text) for text in texts])
        return PassageVectors(made, {}, ones, ones, "made-up")


def vector(text: str) -> np.ndarray:
    """Return the made-up vector of a text."""
    found = np.random.default_rng(abs(hash(text)) % 2**32).standard_normal(DIMENSION)
    return (found / np.linalg.norm(found)).astype(np.float32)


def build(root: Path, notes: int) -> None:
    """Write, index and "embed" a vault."""
    vaults.notes(root, notes)
    ws = Workspace.create(root)
    ws.scan()
    _vectors(ws).embed_pending(MadeUp())  # type: ignore[arg-type]
    ws.close()


def _vectors(ws: Workspace) -> Vectors:
    return Vectors(ws.database, "made-up", DIMENSION, ws.database.path.parent)


def queries(ws: Workspace, count: int) -> list[str]:
    """Return words of passages, two to five at a time."""
    chance = random.Random(3)
    last = ws.database.value("SELECT max(key) FROM passage")
    found = []
    while len(found) < count:
        text = ws.database.value(
            "SELECT text FROM passage WHERE key = ?", (chance.randint(1, last),)
        )
        words = [word.strip(".[]#") for word in (text or "").split() if word.isalpha()]
        if len(words) > 5:
            found.append(" ".join(chance.sample(words, chance.randint(2, 5))))
    return found


def measure(root: Path, count: int) -> dict[str, Any]:
    """Ask every query in each way and return the times, the ratios and the peak of memory."""
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    ws = Workspace.open(root)
    vectors = _vectors(ws)
    vectors.compare(vector(""))  # which makes the files
    (file,) = ws.database.path.parent.glob("vectors-*.f32")
    matrix = np.memmap(file, np.float32, "r").reshape(-1, DIMENSION)
    caller = Caller("benchmark")
    wanted = Filter(ws.now(), kinds=EVERYTHING)
    asked = queries(ws, count)
    ways: dict[str, Callable[[str], object]] = {
        "bare": lambda text: _bare(ws, text),
        "text": lambda text: registry.call(
            ws, "knowledge_search", {"query": text, "mode": "text"}, caller
        ),
        "numpy": lambda text: _product(matrix, vector(text)),
        "hybrid": lambda text: _hybrid(ws, vectors, wanted, text),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for text in asked[:5]:
        for ask in ways.values():
            ask(text)
    for text in asked:
        for name, ask in ways.items():
            began = time.perf_counter()
            ask(text)
            times[name].append(1000 * (time.perf_counter() - began))
    found: dict[str, Any] = {
        "passages": ws.database.value("SELECT count(*) FROM passage"),
        "notes": ws.database.value("SELECT count(*) FROM record"),
        "queries": count,
        "exact": sum(_is_exact(ws, vectors, wanted, vector(text)) for text in asked[:50]),
        "matches": statistics.median(
            len(scoring.matching(ws.database, to_match(parse_query(text)) or "")) for text in asked
        ),
    }
    for at, quantile in (("p50", 0.5), ("p95", 0.95)):
        values = {name: float(np.quantile(spent, quantile)) for name, spent in times.items()}
        found[at] = {name: round(value, 2) for name, value in values.items()}
        found[at]["text ratio"] = round(values["text"] / values["bare"], 2)
        both = values["bare"] + values["numpy"]
        found[at]["hybrid ratio"] = round(values["hybrid"] / both, 2)
    ws.close()
    return found


def memory(root: Path, count: int) -> dict[str, Any]:
    """Ask every query as a server would and return the peak of memory."""
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    ws = Workspace.open(root)
    vectors, wanted, caller = _vectors(ws), Filter(ws.now(), kinds=EVERYTHING), Caller("benchmark")
    for text in queries(ws, count):
        registry.call(ws, "knowledge_search", {"query": text, "mode": "text"}, caller)
        _hybrid(ws, vectors, wanted, text)
    ws.close()
    return {"memory MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}


def _bare(ws: Workspace, text: str) -> object:
    return ws.database.rows(
        f"SELECT rowid, bm25(passage_fts, {', '.join(map(str, fts.WEIGHTS))}) AS score "
        "FROM passage_fts WHERE passage_fts MATCH ? ORDER BY score LIMIT 10",
        (to_match(parse_query(text)),),
    )


def _product(matrix: np.ndarray, query: np.ndarray) -> object:
    products = matrix @ query
    best = np.argpartition(-products, 10)[:10]
    return best[np.argsort(-products[best])]


def _hybrid(ws: Workspace, vectors: Vectors, wanted: Filter, text: str) -> object:
    query = parse_query(text)
    ranked = search.rank(ws.database, query, wanted, vectors.compare(vector(text)))
    return shown.show(ws.database, query, ranked.page(ws.database, 0, 10))


def _is_exact(ws: Workspace, vectors: Vectors, wanted: Filter, query: np.ndarray) -> bool:
    """Say whether the nearest are those of sqlite-vec's own scan."""
    load_extension(ws.database)
    table = ws.database.value("SELECT name FROM sqlite_schema WHERE name GLOB 'passage_vec_[0-9]*'")
    numbers = [
        number
        for (number,) in ws.database.rows(
            f"SELECT rowid FROM {table} WHERE vector MATCH ? AND k = 10 ORDER BY distance",
            (query.tobytes(),),
        )
    ]
    theirs = [
        ws.database.value(
            "SELECT min(passage.key) FROM vector JOIN passage ON passage.hash = vector.hash "
            "WHERE vector.number = ?",
            (number,),
        )
        for number in numbers
    ]
    ours = vectors.compare(query).nearest(10, scope.of(ws.database, wanted))
    return [one.passage for one in ours[:10]] == theirs


def in_process(what: str, root: Path, count: int) -> dict[str, Any]:
    """Measure in a process of its own, in which the same text has the same vector every time."""
    command = [sys.executable, __file__, "--only", what, "--keep", str(root)]
    done = subprocess.run(
        [*command, "--queries", str(count)], check=True, stdout=subprocess.PIPE, text=True,
        env=dict(os.environ, PYTHONHASHSEED="0"),
    )  # fmt: skip
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main() -> None:
    """Build a vault, measure in a process of its own, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=34_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="a vault to make, or one made before")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--only", choices=("measure", "memory"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        print(
            json.dumps(
                {"measure": measure, "memory": memory}[asked.only](asked.keep, asked.queries)
            )
        )
        return
    with tempfile.TemporaryDirectory() as scratch:
        root = asked.keep or Path(scratch, "vault")
        if not (root / ".vault-kg").exists():
            build(root, asked.notes)
        found = in_process("measure", root, asked.queries) | in_process(
            "memory", root, asked.queries
        )
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    print(
        f"{found['passages']:,} passages of {found['notes']:,} notes; {found['queries']} queries, "
        f"half of which match {found['matches']:,.0f} passages or more"
    )
    for at in ("p50", "p95"):
        shown = "  ".join(f"{name} {value:g}" for name, value in found[at].items())
        print(f"{at} ms  {shown}")
    print(f"nearest equal to sqlite-vec's: {found['exact']} of {min(50, found['queries'])}")
    print(f"peak memory {found['memory MB']} MB")


if __name__ == "__main__":
    main()
