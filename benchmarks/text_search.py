"""Measure full-text search: speed and quality of the index, by tokenizer and column weight.

    python benchmarks/text_search.py --locomo locomo10.json --cranfield FOLDER --notes FOLDER

LoCoMo: a session is a record, and a question is answered by the sessions of its evidence.
Cranfield: an abstract is a record. Notes: any folder of Markdown, for speed alone.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from vault_kg.index import fts
from vault_kg.index.query import parse_query, to_match
from vault_kg.index.snippets import closeness, matched_terms, snippet
from vault_kg.records.blocks import read_layout
from vault_kg.records.links import extract_references
from vault_kg.records.markdown import outline
from vault_kg.records.passages import Passage, passage_hash, split_passages
from vault_kg.state.database import Database

TOKENIZERS = {
    "porter": ("porter", "unicode61", "remove_diacritics", "0", "categories", "L* N* Co M*"),
    "plain": ("unicode61", "remove_diacritics", "0", "categories", "L* N* Co M*"),
}
Records = dict[str, tuple[str, str]]
Question = tuple[str, dict[str, int]]


def build(folder: Path, records: Records, *, split: bool) -> Database:
    """Index records in a new database."""
    db = Database(folder / f"{time.monotonic_ns()}.sqlite", create=True)
    with db.write():
        db.execute("CREATE TABLE record (key INTEGER PRIMARY KEY, id TEXT, path TEXT)")
        db.execute(
            "CREATE TABLE passage (key INTEGER PRIMARY KEY, record INTEGER, ordinal INTEGER, "
            "heading TEXT, start_line INTEGER, end_line INTEGER, hash BLOB, text TEXT)"
        )
        fts.create(db)
        for key, (name, (title, text)) in enumerate(records.items(), 1):
            db.execute("INSERT INTO record VALUES (?,?,?)", (key, name, name))
            found = split_passages(text, 1, title) if split else [Passage((), text, 1, 1, 0)]
            hashed = [(p, passage_hash(title, p.heading_path, p.text)) for p in found]
            fts.put_record(db, key, title, hashed)
    return db


def ranked(db: Database, question: str, *, close: float) -> list[str]:
    """Return record ids in order; `close` weighs how exactly the words stand in the passage."""
    query = parse_query(question)
    match = to_match(query)
    if match is None:
        return []
    hits = fts.search(db, match, 100)
    scored = []
    for hit in hits:
        name, text = db.row(  # type: ignore[misc]
            "SELECT id, text FROM passage JOIN record ON record.key = passage.record "
            "WHERE passage.key = ?",
            (hit.passage,),
        )
        bonus = 1 + close * closeness(text, query) if close else 1
        scored.append((-hit.score * bonus, name))
    return list(dict.fromkeys(name for _, name in sorted(scored)))


def judge(db: Database, questions: list[Question], *, close: float = 0.0) -> dict[str, float]:
    """Return mean quality over the questions."""
    sums: dict[str, float] = defaultdict(float)
    started = time.perf_counter()
    for question, relevant in questions:
        found = ranked(db, question, close=close)
        places = [n for n, name in enumerate(found, 1) if name in relevant]
        sums["any@5"] += any(n <= 5 for n in places)
        sums["any@10"] += any(n <= 10 for n in places)
        sums["recall@10"] += sum(n <= 10 for n in places) / len(relevant)
        sums["mrr"] += 1 / places[0] if places else 0.0
        sums["ndcg@10"] += _ndcg(found[:10], relevant)
    spent = time.perf_counter() - started
    means = {name: value / len(questions) for name, value in sums.items()}
    return means | {"ms": 1000 * spent / len(questions)}


def _ndcg(found: list[str], relevant: dict[str, int]) -> float:
    gain = sum(relevant.get(name, 0) / math.log2(n + 1) for n, name in enumerate(found, 1))
    best = sorted(relevant.values(), reverse=True)[:10]
    ideal = sum(value / math.log2(n + 1) for n, value in enumerate(best, 1))
    return gain / ideal if ideal else 0.0


def locomo(path: Path) -> tuple[Records, list[Question]]:
    """Read LoCoMo: every session of every conversation, and the questions with evidence."""
    records: Records = {}
    questions: list[Question] = []
    for number, sample in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        talk = sample["conversation"]
        for key, turns in talk.items():
            if re.fullmatch(r"session_\d+", key):
                lines = [
                    f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}"
                    for turn in turns
                ]
                date = talk.get(f"{key}_date_time", "")
                records[f"{number}:{key[8:]}"] = ("", date + "\n\n" + "\n\n".join(lines))
        for asked in sample["qa"]:
            sessions = {
                f"{number}:{session}" for session in re.findall(r"D(\d+):", str(asked["evidence"]))
            }
            if sessions & records.keys():
                questions.append((asked["question"], dict.fromkeys(sessions & records.keys(), 1)))
    return records, questions


def cranfield(folder: Path) -> tuple[Records, list[Question]]:
    """Read Cranfield: abstracts, queries, and judgements 1 (best) to 4; -1 counts as none."""
    text = (folder / "cran.all.1400").read_text(encoding="latin-1")
    records: Records = {}
    for entry in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        number, rest = entry.split("\n", 1)
        fields = dict(re.findall(r"^\.([TAWB])\n(.*?)(?=^\.[TAWB]$|\Z)", rest, re.M | re.S))
        title = " ".join(fields.get("T", "").split())
        records[number.strip()] = (title, fields.get("W", "").removeprefix(fields.get("T", "")))
    judged: dict[int, dict[str, int]] = defaultdict(dict)
    for line in (folder / "cranqrel").read_text().splitlines():
        query, document, grade = line.split()[:3]
        if int(grade) in {1, 2, 3, 4}:
            judged[int(query)][document] = 5 - int(grade)
    asked = re.split(r"^\.I ", (folder / "cran.qry").read_text(encoding="latin-1"), flags=re.M)[1:]
    questions = [
        (" ".join(entry.split(".W", 1)[1].split()), judged[number])
        for number, entry in enumerate(asked, 1)
        if judged[number]
    ]
    return records, questions


def speed(folder: Path, scratch: Path) -> None:
    """Print how fast each step reads a folder of Markdown, in MB of text a CPU second."""
    texts = [file.read_text("utf-8", "replace") for file in sorted(folder.rglob("*.md"))]
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts)} files, {size:.1f} MB")
    spent: dict[str, float] = {}

    def clock(name: str, started: float) -> None:
        spent[name] = time.process_time() - started

    started = time.process_time()
    layouts = [read_layout(text) for text in texts]
    clock("layout", started)
    started = time.process_time()
    for text, layout in zip(texts, layouts, strict=True):
        outline(text, layout=layout)
    clock("outline", started)
    started = time.process_time()
    for text, layout in zip(texts, layouts, strict=True):
        extract_references(text, layout=layout)
    clock("links and tags", started)
    started = time.process_time()
    passages = [split_passages(t, layout=la) for t, la in zip(texts, layouts, strict=True)]
    clock("passages", started)
    started = time.process_time()
    db = build(scratch, {str(n): (f"note {n}", text) for n, text in enumerate(texts)}, split=True)
    clock("split, store and index", started)
    for name, seconds in spent.items():
        print(f"  {name:24} {size / seconds:7.1f} MB/s")
    print(f"  {sum(map(len, passages))} passages, {db.path.stat().st_size / 1e6:.1f} MB on disk")
    for question in ("how does the link work", "zettelkasten", '"a note" about writing', "链接"):
        query = parse_query(question)
        match = to_match(query)
        assert match is not None
        started = time.perf_counter()
        hits = fts.search(db, match, 10, per_record=True)
        asked = time.perf_counter()
        for hit in hits:
            text = db.value("SELECT text FROM passage WHERE key = ?", (hit.passage,))
            snippet(text, query), matched_terms(text, query), closeness(text, query)
        shown = time.perf_counter()
        total = fts.count(db, match, per_record=True)
        counted = time.perf_counter()
        print(
            f"  {question!r}: search {1000 * (asked - started):.1f} ms, "
            f"{len(hits)} snippets {1000 * (shown - asked):.1f} ms, "
            f"count {total} {1000 * (counted - shown):.1f} ms"
        )


def main() -> None:
    """Run what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--cranfield", type=Path)
    parser.add_argument("--notes", type=Path, action="append", default=[])
    parser.add_argument("--close", type=float, nargs="*", default=[0.0, 0.1, 0.2])
    arguments = parser.parse_args()
    sets = {}
    if arguments.locomo:
        sets["locomo"] = locomo(arguments.locomo)
    if arguments.cranfield:
        sets["cranfield"] = cranfield(arguments.cranfield)
    with tempfile.TemporaryDirectory() as scratch:
        for name, (records, questions) in sets.items():
            print(f"{name}: {len(records)} records, {len(questions)} questions")
            for tokenizer, split in ((t, s) for t in TOKENIZERS for s in (False, True)):
                fts.TOKENIZER = TOKENIZERS[tokenizer]  # type: ignore[misc]
                db = build(Path(scratch), records, split=split)
                for close in arguments.close:
                    means = judge(db, questions, close=close)
                    shown = "  ".join(f"{key} {value:.3f}" for key, value in means.items())
                    kind = "passages" if split else "whole"
                    print(f"  {tokenizer:7} {kind:9} close {close:.2f}  {shown}")
        fts.TOKENIZER = TOKENIZERS["porter"]  # type: ignore[misc]
        for folder in arguments.notes:
            speed(folder, Path(scratch))


if __name__ == "__main__":
    main()
