"""Make vaults to measure on: records, or plain notes, as many as asked for.

    python benchmarks/vaults.py FOLDER --records 10000
    python benchmarks/vaults.py FOLDER --notes 10000

The same arguments give the same bytes. Words are made up and as unevenly frequent as those of a
language; pages link to each other, claims and relationships cite a source of the vault.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import random
from pathlib import Path

from vault_kg.records import ids

WORDS = 30_000
TYPES = ("Person", "Company", "Project", "Place", "Topic", "Document")
MADE_AT = "2026-01-05T10:00:00Z"
_SYLLABLES = [c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "n", "r", "l")]


class Language:
    """Made-up words whose frequencies fall as those of a language do, and text of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        names = itertools.product(_SYLLABLES, repeat=2)
        self.words = ["".join(pair) for pair in names]
        self.random.shuffle(self.words)
        del self.words[WORDS:]
        self._sums = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def some(self, count: int) -> list[str]:
        """Return words, the frequent ones more often."""
        return self.random.choices(self.words, cum_weights=self._sums, k=count)

    def title(self) -> str:
        """Return two or three words with capitals, none of them frequent."""
        rare = self.random.sample(self.words[200:], self.random.randint(2, 3))
        return " ".join(rare).title()

    def paragraph(self, words: int) -> str:
        """Return sentences of about a dozen words."""
        found = self.some(words)
        cut = (found[start : start + 12] for start in range(0, words, 12))
        return " ".join(" ".join(sentence).capitalize() + "." for sentence in cut)


def note(language: Language, title: str, links: list[str]) -> str:
    """Return a note of three sections, about 350 words."""
    parts = [f"# {title}", language.paragraph(90)]
    for link in links:
        parts += [f"## {language.title()}", language.paragraph(120) + f" See [[{link}]]. #topic"]
    return "\n\n".join(parts) + "\n"


def notes(folder: Path, count: int, seed: int = 1) -> None:
    """Write notes in folders of a thousand."""
    language = Language(seed)
    titles = [f"{language.title()} {number}" for number in range(count)]
    for number, title in enumerate(titles):
        path = folder / f"{number // 1000:03}" / f"{title}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = note(language, title, language.random.sample(titles, 2))
        path.write_text(text, encoding="utf-8")


def records(folder: Path, count: int, seed: int = 1) -> None:
    """Write records: two pages, two claims and a relationship out of five, and their source."""
    language = Language(seed)
    source = _source(folder, language)
    pages = max(count * 2 // 5, 2)
    names = [(_id("pg", n), f"{language.title()} {n}") for n in range(pages)]
    texts = itertools.chain(
        (_page(language, n, names) for n in range(pages)),
        (_claim(language, n, names, source) for n in range(pages)),
        (_relationship(language, n, names, source) for n in range(count - 2 * pages)),
    )
    for path, text in texts:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _page(language: Language, number: int, names: list[tuple[str, str]]) -> tuple[str, str]:
    record_id, title = names[number]
    kind = TYPES[number % len(TYPES)]
    head = _head(record_id, "page", title, type=kind, summary=language.paragraph(12))
    links = [name for _, name in language.random.sample(names, 2)]
    stem = title.lower().replace(" ", "-")
    return f"main/pages/{kind.lower()}/{stem}.md", head + note(language, title, links)


def _claim(
    language: Language, number: int, names: list[tuple[str, str]], source: str
) -> tuple[str, str]:
    owner, name = names[number]
    title = f"{language.title()} {number}"
    cited = f"\nevidence:\n  - source: {source}\n    lines: {number % 100 + 1}"
    head = _head(_id("cl", number), "claim", title, claim_kind="fact", owner=owner, cited=cited)
    stem = title.lower().replace(" ", "-")
    path = f"main/claims/{name.lower().replace(' ', '-')}/{stem}.md"
    return path, head + language.paragraph(24) + "\n"


def _relationship(
    language: Language, number: int, names: list[tuple[str, str]], source: str
) -> tuple[str, str]:
    (start, _), (end, _) = language.random.sample(names, 2)
    title = f"{language.title()} {number}"
    cited = f"\nevidence:\n  - source: {source}\n    lines: {number % 100 + 1}"
    fields = {"type": "related_to", "from": start, "to": end, "cited": cited}
    head = _head(_id("re", number), "relationship", title, **fields)
    stem = title.lower().replace(" ", "-")
    return f"main/relationships/related_to/{stem}.md", head + language.paragraph(16) + "\n"


def _head(record_id: str, kind: str, title: str, *, cited: str = "", **fields: str) -> str:
    values = {
        "format": "knowledge-record-v1", "id": record_id, "kind": kind, "revision": "1",
        "title": title, "lifecycle": "active", "recorded_at": MADE_AT, "updated_at": MADE_AT,
    } | fields  # fmt: skip
    lines = "\n".join(f"{key}: {value}" for key, value in values.items())
    return f"---\n{lines}{cited}\n---\n\n"


def _source(folder: Path, language: Language) -> str:
    """Write the source that everything cites, and return its id."""
    content = "".join(f"{language.paragraph(12)}\n" for _ in range(100)).encode()
    digest = hashlib.sha256(content).hexdigest()
    source_id = ids.source_id("main", digest)
    kept = folder / "main" / "sources" / digest
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "field-notes.txt").write_bytes(content)
    (kept / "source.yaml").write_text(
        f"format: knowledge-source-v1\nid: {source_id}\nsha256: {digest}\n"
        f"filename: field-notes.txt\nmedia_type: text/plain\nsize: {len(content)}\n"
        f"recorded_at: {MADE_AT}\n"
    )
    return source_id


def _id(prefix: str, number: int) -> str:
    """Return an id of the right form that tells its number."""
    base = len(ids.ALPHABET)
    digits = [ids.ALPHABET[number // base**place % base] for place in range(8, -1, -1)]
    return f"{prefix}_01kg0000000000000{''.join(digits)}"


def main() -> None:
    """Write the vault that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--notes", type=int, default=0)
    asked = parser.parse_args()
    if asked.records:
        records(asked.folder, asked.records)
    if asked.notes:
        notes(asked.folder, asked.notes)


if __name__ == "__main__":
    main()
