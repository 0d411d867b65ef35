"""Measure how much the worker process costs: the embedder against llama.cpp alone.

    python benchmarks/embedding.py [--notes FOLDER] [--passages 400] [--rounds 3] [--json]

Both embed the same passages with the same model, thread count and tokens a batch, in one run and in
turn, and the best round of each counts, since the machine is shared. "Alone" is
`llama_cpp.Llama.embed` in a process of its own, with the same `OMP_WAIT_POLICY`. Short passages are
lines of the notes, long ones are runs of paragraphs (each a batch of its own). Nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from vault_kg.embedding.client import Embedder
from vault_kg.embedding.models import DEFAULT_MODEL, resolve
from vault_kg.embedding.process import BATCH_TOKENS
from vault_kg.embedding.threads import available_cores

ROOT = Path(__file__).resolve().parents[1]
LONG_CHARS = 1400

ALONE = """
import json, sys, time
from llama_cpp import Llama

model, threads, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
llama = Llama(
    model, embedding=True, n_ctx=size, n_batch=size, n_ubatch=size, n_threads=threads,
    n_threads_batch=threads, verbose=False,
)
for line in sys.stdin:
    texts = sorted(json.loads(line), key=len)
    started = time.perf_counter()
    for first in range(0, len(texts), 64):
        llama.embed(texts[first : first + 64], normalize=True)
    print(time.perf_counter() - started, flush=True)
"""


def passages(folders: list[Path], count: int, *, long: bool) -> list[str]:
    """Take passages from the Markdown files of some folders, evenly from all of them."""
    found = list(_long(folders) if long else _short(folders))
    if not found:
        raise SystemExit("there is no Markdown with text in these folders")
    while len(found) < count:
        found += found
    return found[:: len(found) // count][:count]


def _paragraphs(folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        for path in sorted(folder.rglob("*.md")):
            yield from path.read_text(encoding="utf-8", errors="replace").split("\n\n")


def _short(folders: list[Path]) -> Iterator[str]:
    for paragraph in _paragraphs(folders):
        yield from (line for line in paragraph.split("\n") if 20 < len(line) < 250)


def _long(folders: list[Path]) -> Iterator[str]:
    text = ""
    for paragraph in _paragraphs(folders):
        text = f"{text}\n\n{paragraph}"
        if len(text) >= LONG_CHARS:
            yield text[:LONG_CHARS]
            text = ""


class Alone:
    """llama.cpp's own binding, without a client, in a process of its own."""

    def __init__(self, model: Path, threads: int, batch_tokens: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", ALONE, str(model), str(threads), str(batch_tokens)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=dict(os.environ, OMP_WAIT_POLICY="passive"),
        )
        self.seconds(["warm up"])

    def seconds(self, texts: list[str]) -> float:
        """Embed the texts, and return how long the library took, by its own clock."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(texts) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _embedder_seconds(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.embed_passages(texts)
    return time.perf_counter() - started


def compare(model: Path, texts: list[str], threads: int, rounds: int) -> dict[str, float]:
    """Embed the texts both ways, in turn, and return passages a second of the best rounds."""
    context = 512
    fits = max(map(len, texts)) < BATCH_TOKENS  # no text has more tokens than characters
    alone = Alone(model, threads, BATCH_TOKENS if fits else context)
    with Embedder(model, threads=threads) as fixed, Embedder(model) as measured:
        ways = {
            "alone": alone.seconds,
            "embedder": lambda texts: _embedder_seconds(fixed, texts),
            "embedder, threads measured": lambda texts: _embedder_seconds(measured, texts),
        }
        fixed.embed_query("warm up")
        measured.embed_query("warm up")
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(rounds):
            for name, seconds in ways.items():
                best[name] = min(best[name], seconds(texts))
    alone.close()
    return {name: len(texts) / seconds for name, seconds in best.items()}


def query_latency(model: Path, questions: list[str]) -> dict[str, float]:
    """Return the times of a query: the first, with the start of the worker, and warm ones."""
    times = []
    with Embedder(model) as embedder:
        for question in questions:
            started = time.perf_counter()
            embedder.embed_query(question)
            times.append((time.perf_counter() - started) * 1000)
    warm = sorted(times[1:])
    return {
        "first_ms": times[0],
        "p50_ms": warm[len(warm) // 2],
        "p95_ms": warm[len(warm) * 95 // 100],
    }


def main() -> None:
    """Print the comparison as a table or as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=Path, action="append", help="a folder of Markdown")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="a name, or a GGUF file")
    parser.add_argument("--passages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folders = options.notes or [ROOT / "sample_vault", ROOT / "docs"]
    model = resolve(options.model)
    rows = []
    for length in ("short", "long"):
        count = options.passages if length == "short" else max(1, options.passages // 5)
        texts = passages(folders, count, long=length == "long")
        for threads in sorted({1, available_cores()}):
            speeds = compare(model, texts, threads, options.rounds)
            rows.append({"passages": length, "n": len(texts), "threads": threads, **speeds})
    questions = passages(folders, 60, long=False)
    result = {"model": model.stem, "throughput": rows, "query": query_latency(model, questions)}
    print(json.dumps(result, indent=2) if options.json else _table(result))


def _table(result: dict[str, object]) -> str:
    lines = ["passages a second       threads     alone  embedder  ratio  threads measured"]
    for row in result["throughput"]:  # type: ignore[attr-defined]
        alone, ours, measured = row["alone"], row["embedder"], row["embedder, threads measured"]
        lines.append(
            f"{row['passages']:5} ({row['n']:4} passages) {row['threads']:9} {alone:9.1f} "
            f"{ours:9.1f}  {ours / alone:5.2f} {measured:9.1f}"
        )
    times = "  ".join(f"{name[:-3]} {value:.1f} ms" for name, value in result["query"].items())  # type: ignore[attr-defined]
    return "\n".join([*lines, f"one query: {times}"])


if __name__ == "__main__":
    main()
