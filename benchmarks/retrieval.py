#!/usr/bin/env python3
"""How often search finds what answers a question: LoCoMo, Cranfield, and titles in three languages.

    python benchmarks/retrieval.py --data DIR [--json]

DIR holds the public data sets named in docs/benchmarks.md; none of them is part of this repository. Every
method is asked for ten records of one pooled collection. Of LoCoMo a session is one note, and the sessions
that hold a question's evidence are what should be found; conversations 1 to 4 served to choose by, and
5 to 10 are reported.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sqlite3
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from vault_kg.index.query import STOPWORDS
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

TOP = 10
CHOSEN_BY = 4

Method = Callable[[str], list[str]]


@dataclass(frozen=True)
class Collection:
    """Documents by name, and questions with the names of those that answer them."""

    name: str
    documents: dict[str, str]
    questions: list[tuple[str, set[str]]]


def main() -> None:
    """Run every method on every collection and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = {}
    for collection in collections(arguments.data):
        results[collection.name] = measure(collection)
        if not arguments.json:
            show(collection, results[collection.name])
    if arguments.json:
        json.dump(results, sys.stdout, indent=2)


def collections(data: Path) -> Iterable[Collection]:
    """Yield the collections that the data folder holds."""
    yield locomo(data, "LoCoMo 5-10", range(CHOSEN_BY, 10), corrected=False)
    yield locomo(data, "LoCoMo 5-10, corrected key", range(CHOSEN_BY, 10), corrected=True)
    yield locomo(data, "LoCoMo 1-4 (chosen by)", range(CHOSEN_BY), corrected=False)
    yield cranfield(data)
    yield titles(data)


def locomo(data: Path, name: str, which: Iterable[int], *, corrected: bool) -> Collection:
    """Return LoCoMo's sessions and questions of some conversations."""
    conversations = json.loads((data / "locomo10.json").read_text(encoding="utf-8"))
    mended = _corrections(data) if corrected else {}
    documents, questions = {}, []
    for number in which:
        conversation = conversations[number]["conversation"]
        for key, turns in conversation.items():
            if isinstance(turns, list):
                session = f"c{number}-{key.removeprefix('session_')}"
                when = conversation.get(f"{key}_date_time", "")
                lines = [f"{turn['speaker']}: {turn['text']}" for turn in turns]
                documents[session] = f"# {when}\n\n" + "\n\n".join(lines) + "\n"
        for index, asked in enumerate(conversations[number]["qa"]):
            evidence = mended.get(f"locomo_{number}_qa{index}", asked.get("evidence", []))
            sessions = {f"c{number}-{n}" for n in re.findall(r"D(\d+):", " ".join(evidence))}
            if sessions & set(documents):
                questions.append((str(asked["question"]), sessions & set(documents)))
    return Collection(name, documents, questions)


def _corrections(data: Path) -> dict[str, list[str]]:
    found = json.loads((data / "locomo-corrections.json").read_text(encoding="utf-8"))
    return {c["question_id"]: c["correct_evidence"] for c in found if c.get("correct_evidence")}


def cranfield(data: Path) -> Collection:
    """Return Cranfield's abstracts, queries and judgements (1 to 4 are relevant)."""
    documents = {}
    for part in (data / "cran.all.1400").read_text(encoding="utf-8").split("\n.I ")[0:]:
        number, _, rest = part.removeprefix(".I ").partition("\n")
        title = re.search(r"\.T\n(.*?)\n\.A", rest, re.S)
        body = re.search(r"\.W\n(.*)", rest, re.S)
        heading = " ".join(title[1].split()) if title else ""
        documents[number.strip()] = f"# {heading}\n\n{body[1] if body else ''}\n"
    queries = re.findall(r"\.I \d+\n\.W\n(.*?)(?=\n\.I |\Z)", (data / "cran.qry").read_text(), re.S)
    relevant: dict[int, set[str]] = {}
    for line in (data / "cranqrel").read_text().splitlines():
        query, document, grade = [*line.split(), "0"][:3]
        if 1 <= int(grade) <= 4:
            relevant.setdefault(int(query), set()).add(document)
    questions = [
        (" ".join(text.split()), relevant[n]) for n, text in enumerate(queries, 1) if n in relevant
    ]
    return Collection("Cranfield", documents, questions)


def titles(data: Path) -> Collection:
    """Return the Obsidian help in English, Russian and Chinese; each page is asked for by its title."""
    documents = {}
    with tarfile.open(data / "obsidian-help-en-ru-zh.tar.xz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".md"):
                handle = archive.extractfile(member)
                assert handle is not None
                documents[member.name[:-3]] = handle.read().decode("utf-8", "replace")
    by_title: dict[tuple[str, str], set[str]] = {}
    for name in documents:
        language, _, title = name.partition("/")[0], "", name.rpartition("/")[2]
        by_title.setdefault((language, title), set()).add(name)
    questions = [(title, names) for (_, title), names in sorted(by_title.items())]
    return Collection("Obsidian help by title (en, ru, zh)", documents, questions)


def measure(collection: Collection) -> dict[str, dict[str, float]]:
    """Return the scores of every method."""
    with tempfile.TemporaryDirectory() as folder:
        methods: dict[str, Method] = {
            "grep": grep(collection),
            "bare FTS5": bare(collection),
            **ours(collection, Path(folder)),
        }
        return {name: score(collection, method) for name, method in methods.items()}


def score(collection: Collection, method: Method) -> dict[str, float]:
    """Return any@5, any@10, recall@10, MRR and nDCG@10 over all questions."""
    sums = dict.fromkeys(("any@5", "any@10", "recall@10", "MRR", "nDCG@10"), 0.0)
    for question, wanted in collection.questions:
        hits = [name in wanted for name in method(question)[:TOP]]
        sums["any@5"] += any(hits[:5])
        sums["any@10"] += any(hits)
        sums["recall@10"] += sum(hits) / len(wanted)
        sums["MRR"] += next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
        gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), TOP) + 1))
        sums["nDCG@10"] += gained / best
    return {name: total / len(collection.questions) for name, total in sums.items()}


def grep(collection: Collection) -> Method:
    """Return documents by how many of the words they hold, as `grep -ric` of each would count."""
    lowered = {name: text.lower() for name, text in collection.documents.items()}

    def search(question: str) -> list[str]:
        words = _words(question)
        counts = {name: sum(word in text for word in words) for name, text in lowered.items()}
        return sorted((n for n in counts if counts[n]), key=lambda n: (-counts[n], n))[:TOP]

    return search


def bare(collection: Collection) -> Method:
    """Return FTS5 with porter alone: any word but stop words, one row a document."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE t USING fts5(name UNINDEXED, body, tokenize='porter unicode61')"
    )
    database.executemany("INSERT INTO t VALUES (?, ?)", collection.documents.items())

    def search(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in _words(question))
        sql = "SELECT name FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?"
        return [name for (name,) in database.execute(sql, (match, TOP))] if match else []

    return search


def ours(collection: Collection, folder: Path) -> dict[str, Method]:
    """Return our three modes over a vault of notes made of the documents."""
    for name, text in collection.documents.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    workspace = Workspace.create(folder)
    workspace.scan()
    _, trouble = workspace.semantics.embed_pending()
    if trouble:
        sys.exit(f"no embeddings: {trouble}")

    def asking(mode: str) -> Method:
        def search(question: str) -> list[str]:
            found = registry.call(
                workspace,
                "knowledge_search",
                {"query": question, "limit": TOP, "mode": mode},
                Caller("bench"),
            )
            return [hit["path"][:-3] for hit in found["hits"]]

        return search

    return {mode: asking(mode) for mode in ("text", "semantic", "hybrid")}


def _words(question: str) -> list[str]:
    words = re.findall(r"\w+", question.lower())
    return [word for word in dict.fromkeys(words) if word not in STOPWORDS] or words


def show(collection: Collection, results: dict[str, dict[str, float]]) -> None:
    """Print one collection's table."""
    print(f"\n{collection.name}: {len(collection.documents):,} documents, ", end="")
    print(f"{len(collection.questions):,} questions\n")
    columns = list(next(iter(results.values())))
    print("| method | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for method, scores in results.items():
        print(f"| {method} | " + " | ".join(f"{scores[c]:.3f}" for c in columns) + " |")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
