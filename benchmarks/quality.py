"""Measure how good search is, on questions whose answers are known.

    python benchmarks/quality.py [--locomo FILE] [--corrections FILE] [--cranfield FOLDER]
                                 [--help-pages FOLDER] [--choose] [--json]

LoCoMo: a session of a conversation is a note, and a question is answered by the sessions of its
evidence. Conversations 1 to 4 are there to choose by (`--choose` prints the weights tried), 5 to 10
to report on: pooled, all their sessions in one vault, and per conversation, the vault searched in
one partition. Cranfield: an abstract is a note. Help pages: the same pages in several languages; a
page is to be found by its own title. Nothing of the data is kept.

- grep: notes by how many different words of the question they hold, then how often;
- bare: FTS5 with `porter unicode61`, a note a row, the words joined by OR without stop words;
- text, semantic, hybrid: `knowledge_search` in each mode, with the default model.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import apsw

from vault_kg.index import search, shown
from vault_kg.index.listing import Filter
from vault_kg.index.query import parse_query
from vault_kg.index.stopwords import STOPWORDS
from vault_kg.operations import searching
from vault_kg.operations.workspace import Workspace

DEPTH = 100
WEIGHTS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 1.0)
FLOORS = (None, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
MEASURES = ("any@5", "any@10", "recall@10", "mrr", "ndcg@10")

Notes = dict[str, str]
"""Text by path."""

Question = tuple[str, dict[str, int], str | None]
"""What is asked, the grade of each note that answers, and the partition to search in."""

Way = Callable[[str, str | None], list[str]]
"""Returns paths in order for a question, within a partition."""


class Library:
    """A vault of notes, and the ways to ask it."""

    def __init__(self, root: Path, notes: Notes) -> None:
        self.notes = notes
        for path, text in notes.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        self.ws = Workspace.create(root)
        self.ws.scan()
        _, reason = self.ws.semantics.embed_pending()
        if reason:
            raise SystemExit(f"no vectors: {reason}")
        self._words = {path: re.findall(r"\w+", text.lower()) for path, text in notes.items()}
        self._table = apsw.Connection(":memory:")
        self._table.execute(
            "CREATE VIRTUAL TABLE t USING fts5(path UNINDEXED, body, tokenize='porter unicode61')"
        )
        self._table.executemany("INSERT INTO t VALUES (?, ?)", notes.items())

    def grep(self, question: str, partition: str | None) -> list[str]:
        """Order notes by the different words of the question that they hold."""
        asked = set(_words(question))
        scored = []
        for path, words in self._words.items():
            if _inside(path, partition):
                held = [word for word in words if word in asked]
                scored.append((-len(set(held)), -len(held), path))
        return [path for different, _, path in sorted(scored) if different]

    def bare(self, question: str, partition: str | None) -> list[str]:
        """Order notes by a bare FTS5 query."""
        match = " OR ".join(f'"{word}"' for word in _words(question))
        if not match:
            return []
        rows = self._table.execute(
            "SELECT path FROM t WHERE t MATCH ? ORDER BY bm25(t), path", (match,)
        )
        return [path for (path,) in rows if _inside(path, partition)]

    def ours(
        self,
        mode: searching.Mode,
        weight: float = search.SEMANTIC_WEIGHT,
        floor: float | None = searching.LEAST_ALIKE,
    ) -> Way:
        """Return a mode of our search, with a weight of the meaning and a floor of its hits."""

        def ask(question: str, partition: str | None) -> list[str]:
            db, query = self.ws.database, parse_query(question)
            kinds = ("page", "claim", "relationship", "note")
            within = (partition,) if partition else None
            wanted = Filter(self.ws.now(), kinds=kinds, partitions=within)
            compared = None if mode == "text" else self._compared(question)
            ranked = search.rank(db, query, wanted, compared, mode=mode, weight=weight, floor=floor)
            hits = ranked.page(db, 0, DEPTH)
            return [one.row.path for one in shown.show(db, query, hits)]

        return ask

    def _compared(self, question: str) -> object:
        compared, reason = self.ws.semantics.compare(question, 60)
        if reason:
            raise SystemExit(reason)
        return compared


def _words(question: str) -> list[str]:
    words = re.findall(r"\w+", question.lower())
    return [word for word in dict.fromkeys(words) if word not in STOPWORDS]


def _inside(path: str, partition: str | None) -> bool:
    return partition is None or path.startswith(f"{partition}/")


def judge(ask: Way, questions: Iterable[Question]) -> dict[str, float]:
    """Return mean quality over the questions."""
    sums = dict.fromkeys(MEASURES, 0.0)
    count = 0
    for question, relevant, partition in questions:
        found = ask(question, partition)[:DEPTH]
        places = [n for n, path in enumerate(found, 1) if path in relevant]
        sums["any@5"] += any(n <= 5 for n in places)
        sums["any@10"] += any(n <= 10 for n in places)
        sums["recall@10"] += sum(n <= 10 for n in places) / len(relevant)
        sums["mrr"] += 1 / places[0] if places else 0.0
        sums["ndcg@10"] += _ndcg(found[:10], relevant)
        count += 1
    return {"questions": count} | {name: round(sums[name] / count, 4) for name in MEASURES}


def _ndcg(found: list[str], relevant: dict[str, int]) -> float:
    gain = sum(relevant.get(path, 0) / math.log2(n + 1) for n, path in enumerate(found, 1))
    best = sorted(relevant.values(), reverse=True)[:10]
    return gain / sum(grade / math.log2(n + 1) for n, grade in enumerate(best, 1))


def locomo(path: Path, corrections: Path | None, chosen: range) -> tuple[Notes, list[Question]]:
    """Read conversations of LoCoMo: their sessions as notes, and the questions with evidence."""
    corrected = _corrections(corrections)
    notes: Notes = {}
    questions: list[Question] = []
    for number, sample in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        if number + 1 not in chosen:
            continue
        part, talk = f"talk-{number + 1}", sample["conversation"]
        for key, turns in talk.items():
            if re.fullmatch(r"session_\d+", key):
                lines = (f"{t['speaker']}: {t['text']} {t.get('blip_caption', '')}" for t in turns)
                parts = (talk.get(f"{key}_date_time", ""), *lines)
                notes[_session(part, key[8:])] = "\n\n".join(parts) + "\n"
        for asked in sample["qa"]:
            evidence = corrected.get((number, asked["question"]), asked["evidence"])
            sessions = (_session(part, n) for n in re.findall(r"D(\d+):", str(evidence)))
            relevant = {session: 1 for session in sessions if session in notes}
            if relevant:
                questions.append((asked["question"], relevant, part))
    return notes, questions


def _session(part: str, number: str) -> str:
    return f"{part}/pages/{int(number):02}.md"


def _corrections(path: Path | None) -> dict[tuple[int, str], list[str]]:
    if path is None:
        return {}
    return {
        (int(entry["question_id"].split("_")[1]), entry["question"]): entry["correct_evidence"]
        for entry in json.loads(path.read_text(encoding="utf-8"))
        if entry["correct_evidence"]
    }


def cranfield(folder: Path) -> tuple[Notes, list[Question]]:
    """Read Cranfield: abstracts, queries, and judgements 1 (best) to 4; -1 counts as none."""
    text = (folder / "cran.all.1400").read_text(encoding="latin-1")
    notes: Notes = {}
    for entry in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        number, rest = entry.split("\n", 1)
        fields = dict(re.findall(r"^\.([TAWB])\n(.*?)(?=^\.[TAWB]$|\Z)", rest, re.M | re.S))
        title = " ".join(fields.get("T", "").split())
        body = fields.get("W", "").removeprefix(fields.get("T", ""))
        notes[f"{int(number):04}.md"] = f"---\ntitle: {json.dumps(title)}\n---\n\n{body}"
    judged: dict[int, dict[str, int]] = defaultdict(dict)
    for line in (folder / "cranqrel").read_text().splitlines():
        query, document, grade = line.split()[:3]
        if int(grade) in {1, 2, 3, 4}:
            judged[int(query)][f"{int(document):04}.md"] = 5 - int(grade)
    asked = re.split(r"^\.I ", (folder / "cran.qry").read_text(encoding="latin-1"), flags=re.M)[1:]
    questions: list[Question] = [
        (" ".join(entry.split(".W", 1)[1].split()), judged[number], None)
        for number, entry in enumerate(asked, 1)
        if judged[number]
    ]
    return notes, questions


def help_pages(folder: Path) -> tuple[Notes, list[Question]]:
    """Read pages of several languages; each is asked for by its own title."""
    notes: Notes = {}
    questions: list[Question] = []
    for file in sorted(folder.rglob("*.md")):
        path = file.relative_to(folder).as_posix()
        notes[path] = file.read_text(encoding="utf-8")
        questions.append((file.stem, {path: 1}, None))
    return notes, questions


def by_language(questions: Iterable[Question]) -> dict[str, list[Question]]:
    """Ask the pages of each language, a folder each, in the vault that holds all of them."""
    found: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        folder = next(iter(question[1])).split("/")[0]
        found[f"Help pages by their titles, {folder}"].append(question)
    return found


def pooled(questions: Iterable[Question]) -> list[Question]:
    """Ask in the whole vault."""
    return [(question, relevant, None) for question, relevant, _ in questions]


def compare(notes: Notes, settings: dict[str, list[Question]]) -> dict[str, object]:
    """Judge every way in every setting."""
    with tempfile.TemporaryDirectory() as scratch:
        library = Library(Path(scratch, "vault"), notes)
        ways: dict[str, Way] = {
            "grep": library.grep,
            "bare": library.bare,
            "text": library.ours("text"),
            "semantic": library.ours("semantic"),
            "hybrid": library.ours("hybrid"),
        }
        found: dict[str, object] = {
            name: {way: judge(ask, questions) for way, ask in ways.items()}
            for name, questions in settings.items()
        }
        library.ws.close()
    return found


def choose(path: Path) -> dict[str, object]:
    """Judge weights and floors of meaning on the conversations that are there to choose by."""
    notes, questions = locomo(path, None, range(1, 5))
    with tempfile.TemporaryDirectory() as scratch:
        library = Library(Path(scratch, "vault"), notes)
        found: dict[str, object] = {
            f"weight {weight}": judge(library.ours("hybrid", weight), pooled(questions))
            for weight in WEIGHTS
        }
        found |= {
            f"{mode} {floor}": judge(library.ours(mode, floor=floor), pooled(questions))
            for mode in ("hybrid", "semantic")
            for floor in FLOORS
        }
        library.ws.close()
    return {"LoCoMo 1-4, pooled": found}


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--corrections", type=Path)
    parser.add_argument("--cranfield", type=Path)
    parser.add_argument("--help-pages", type=Path)
    parser.add_argument(
        "--choose", action="store_true", help="try weights and floors on LoCoMo 1-4"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    if os.environ.get("VAULT_KG_EMBEDDING_MODEL") == "off":
        raise SystemExit("VAULT_KG_EMBEDDING_MODEL is off; there is nothing to compare")
    found: dict[str, object] = {}
    if asked.locomo and asked.choose:
        found |= choose(asked.locomo)
    elif asked.locomo:
        notes, questions = locomo(asked.locomo, None, range(5, 11))
        settings = {
            "LoCoMo 5-10, pooled": pooled(questions),
            "LoCoMo 5-10, per conversation": questions,
        }
        if asked.corrections:
            _, corrected = locomo(asked.locomo, asked.corrections, range(5, 11))
            settings["LoCoMo 5-10, pooled, corrected evidence"] = pooled(corrected)
        found |= compare(notes, settings)
    if asked.cranfield:
        notes, questions = cranfield(asked.cranfield)
        found |= compare(notes, {"Cranfield": questions})
    if asked.help_pages:
        notes, questions = help_pages(asked.help_pages)
        found |= compare(notes, by_language(questions))
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for setting, rows in found.items():
        print(f"\n{setting}\n{'':12}" + "".join(f"{name:>11}" for name in MEASURES))
        for way, means in rows.items():  # type: ignore[attr-defined]
            print(f"{way:12}" + "".join(f"{means[name]:11.3f}" for name in MEASURES))


if __name__ == "__main__":
    main()
