"""How well configured models read: precision and recall on a small labelled corpus.

The 30 documents of `corpus_extraction/` were written for this, of people and places that exist
nowhere else, so that no model knows them. Each model ingests them one after another into a vault of
its own. An entity counts where its name is found; a relation where both names and the type are, and
beside it where both names are. Duplicates are pages beyond one for each thing. The share of what
was grounded is of all that the model said.

Models are those of $VAULT_KG_EXTRACTION_MODEL (and _ENDPOINT), or `--model`, which may be repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vault_kg.errors import Unavailable
from vault_kg.ingest import configured
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records.names import lookup_key

CORPUS = Path(__file__).parent / "corpus_extraction"


@dataclass
class Count:
    """True, said and wanted of one kind of item."""

    true: int = 0
    said: int = 0
    wanted: int = 0

    def add(self, said: set[Any], wanted: set[Any]) -> None:
        """Count one document."""
        self.true += len(said & wanted)
        self.said += len(said)
        self.wanted += len(wanted)

    @property
    def precision(self) -> float:
        """Share of what was said that is true."""
        return self.true / self.said if self.said else 0.0

    @property
    def recall(self) -> float:
        """Share of what is wanted that was said."""
        return self.true / self.wanted if self.wanted else 0.0


@dataclass
class Score:
    """How a model did."""

    model: str
    entities: Count = field(default_factory=Count)
    typed: Count = field(default_factory=Count)
    relations: Count = field(default_factory=Count)
    pairs: Count = field(default_factory=Count)
    kept: int = 0
    ungrounded: int = 0
    duplicates: int = 0
    pages: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def grounded(self) -> float:
        """Share of what the model said that the text bears out."""
        return self.kept / max(self.kept + self.ungrounded, 1)


def measure(model: str, documents: list[dict[str, Any]], same: list[list[str]]) -> Score:
    """Let a model read the corpus."""
    os.environ[configured.MODEL] = model
    score = Score(model)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.create(Path(folder))
        began = time.perf_counter()
        for number, document in enumerate(documents, 1):
            print(f"\r{model}: {number} of {len(documents)}", end="", file=sys.stderr)
            read(workspace, document, score)
        score.seconds = time.perf_counter() - began
        print(file=sys.stderr)
        count_pages(workspace, documents, same, score)
        workspace.close()
    return score


def read(workspace: Workspace, document: dict[str, Any], score: Score) -> None:
    """Let it read one document, and compare what it said with the labels."""
    text = (CORPUS / document["file"]).read_text(encoding="utf-8")
    arguments = {"chunk_text": text, "chunk_id": document["file"], "source_file": document["file"]}
    try:
        done = registry.call(workspace, "knowledge_process_chunk", arguments, Caller("benchmark"))
    except Unavailable:
        score.failed += 1
        done = {"written": [], "merged": [], "ungrounded": []}
    said = [*done["written"], *done["merged"]]
    named = {(lookup_key(i["name"]), i["type"]) for i in said if i["kind"] == "entity"}
    joined = {
        (lookup_key(i["name"]), i["type"], lookup_key(i["target"])) for i in said if i["target"]
    }
    wanted = {(lookup_key(name), kind) for name, kind in document["entities"].items()}
    edges = {(lookup_key(s), kind, lookup_key(t)) for s, kind, t in document["relations"]}
    score.entities.add({name for name, _ in named}, {name for name, _ in wanted})
    score.typed.add(named, wanted)
    score.relations.add(joined, edges)
    score.pairs.add(
        {frozenset((s, t)) for s, _, t in joined}, {frozenset((s, t)) for s, _, t in edges}
    )
    score.kept += len(said)
    score.ungrounded += len(done["ungrounded"])


def count_pages(
    workspace: Workspace, documents: list[dict[str, Any]], same: list[list[str]], score: Score
) -> None:
    """Count the pages that are one more for a thing that has one."""
    first = {lookup_key(name): lookup_key(names[0]) for names in same for name in names}
    wanted = {lookup_key(name) for document in documents for name in document["entities"]}
    listed = registry.call(
        workspace, "knowledge_records", {"kind": "page", "limit": 1000}, Caller("benchmark")
    )
    titles = [lookup_key(record["title"]) for record in listed["records"]]
    things = [first.get(title, title) for title in titles if title in wanted]
    score.pages = len(titles)
    score.duplicates = len(things) - len(set(things))


def table(scores: list[Score]) -> str:
    """Return the scores as a Markdown table."""
    rows = [
        "| model | entities P/R | with type | relations P/R | pairs P/R | grounded | duplicates | "
        "failed | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for score in scores:
        counts = (score.entities, score.typed, score.relations, score.pairs)
        shown = " | ".join(f"{c.precision:.2f} / {c.recall:.2f}" for c in counts)
        rows.append(
            f"| {score.model} | {shown} | {score.grounded:.0%} | {score.duplicates} of "
            f"{score.pages} | {score.failed} | {score.seconds:,.0f} |"
        )
    return "\n".join(rows)


def main() -> int:
    """Measure each model and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", action="append", metavar="NAME|FILE")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    models = asked.model or [os.environ.get(configured.MODEL) or ""]
    if not all(models):
        parser.error(f"no model: give --model, or set {configured.MODEL}")
    labels = json.loads((CORPUS / "labels.json").read_text(encoding="utf-8"))
    documents = labels["documents"][: asked.documents]
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    scores = [measure(model, documents, labels["same"]) for model in models]
    print(json.dumps([asdict(s) for s in scores]) if asked.json else table(scores))
    return 0


if __name__ == "__main__":
    sys.exit(main())
