"""A model for tests that knows what a few sentences say, and says it where a document has them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from vault_kg.ingest.asking import Answer, Question, Stopped

_DOCUMENT = re.compile(r"<document>\n(.*)\n</document>", re.DOTALL)


@dataclass
class Oracle:
    """Answers as a good model would, from what it was taught; keeps what it was asked."""

    entities: list[dict[str, Any]] = field(default_factory=list)
    relations: list[dict[str, Any]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    always: dict[str, list[Any]] = field(default_factory=dict)
    """What it says whatever it reads, as a model that was led astray does."""
    asked: list[Question] = field(default_factory=list)
    context_tokens: int = 8_192
    name: str = "oracle"

    def thing(self, name: str, type: str = "Person", summary: str = "") -> Oracle:
        self.entities.append({"name": name, "type": type, "summary": summary})
        return self

    def relation(self, source: str, type: str, target: str, quote: str, **more: Any) -> Oracle:
        self.relations.append(
            {"source": source, "type": type, "target": target, "quote": quote, "fact": quote} | more
        )
        return self

    def claim(self, about: str, quote: str, kind: str = "fact", **more: Any) -> Oracle:
        self.claims.append(
            {"about": about, "kind": kind, "quote": quote, "statement": quote} | more
        )
        return self

    def ask(self, question: Question, max_tokens: int, stopped: Stopped) -> Answer:
        self.asked.append(question)
        found = _DOCUMENT.search(question.user)
        assert found is not None, "every question has the document"
        text = " ".join(found[1].split())
        answer: dict[str, list[Any]] = {}
        for key in question.schema["properties"]:
            word = "name" if key == "entities" else "quote"
            taught = getattr(self, key)
            answer[key] = [item for item in taught if " ".join(str(item.get(word)).split()) in text]
            answer[key] += self.always.get(key, [])
        return Answer(json.dumps(answer, ensure_ascii=False), True, 10)

    def close(self) -> None:
        pass
