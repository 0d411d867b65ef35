"""One vault file, parsed: what the catalog needs to know of it, from its bytes alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from vault_kg.records import ids, links, model, names, passages
from vault_kg.records.link_targets import names_of
from vault_kg.records.frontmatter import Document, FrontMatterError, Value, parse
from vault_kg.records.model import Problem, Record
from vault_kg.store import paths, sources
from vault_kg.store.sources import Source

_LEFT_AS_IT_WAS = "the file was left as it is"

RECORD, NOTE, SOURCE, BROKEN, OTHER = "record", "note", "source", "broken", "other"


@dataclass(frozen=True)
class Parsed:
    """What a file holds. `kind` says which of the parts are there."""

    path: str
    kind: str
    title: str = ""
    record: Record | None = None
    source: Source | None = None
    document: Document | None = None
    problems: tuple[Problem, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    """(lookup key, where it comes from: title, alias, stem, path, id)."""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[links.Link, ...] = ()
    passages: tuple[passages.Passage, ...] = ()
    marks_record: bool = field(default=False)
    """A broken file that says it is a record, so that what it was is still spoken for."""


def parse_file(path: str, content: bytes) -> Parsed:
    """Parse a vault file; never raises for what the bytes hold."""
    if is_source_descriptor(path):
        return _source(path, content)
    if not path.lower().endswith(".md"):
        return Parsed(path, OTHER)
    try:
        document = parse(content)
    except FrontMatterError as error:
        problem = Problem(
            "broken_front_matter",
            error.reason,
            error.line,
            f"mend the lines between the --- fences; {_LEFT_AS_IT_WAS}",
        )
        if b"knowledge-record-" in content:
            return Parsed(path, BROKEN, stem(path), problems=(problem,), marks_record=True)
        return replace(_note(path, _as_plain_text(content)), problems=(problem,))
    return _record(path, document) if model.is_record(document) else _note(path, document)


def _as_plain_text(content: bytes) -> Document:
    """Read a note whose front matter is broken as text without any, so that its words are found."""
    text = content.decode("utf-8", errors="replace")
    return Document(content, False, "\n", False, {}, {}, text, 1)


def is_source_descriptor(path: str) -> bool:
    """Say whether a path is that of a source's descriptor."""
    parts = path.split("/")
    return len(parts) == 4 and parts[1] == "sources" and parts[3] == sources.DESCRIPTOR


def in_sources(path: str) -> bool:
    """Say whether a path lies among retained sources, whose files are nobody's notes."""
    parts = path.split("/", 2)
    return len(parts) > 2 and parts[1] == "sources"


def partition_of(path: str) -> str:
    """Return the partition that a path lies in; anything outside one belongs to the default."""
    parts = path.split("/")
    inside = len(parts) > 2 and parts[1] in ("pages", "claims", "relationships", "sources")
    return parts[0] if inside else paths.DEFAULT_PARTITION


def stem(path: str) -> str:
    """Return a file's name without its Markdown suffix."""
    name = PurePosixPath(path).name
    return name[:-3] if name.lower().endswith(".md") else name


def _source(path: str, content: bytes) -> Parsed:
    try:
        source = sources.read_descriptor(path, content)
    except ValueError as error:
        problem = Problem(
            "invalid_source", f"not a source descriptor: {error}", 1, "restore the file from Git"
        )
        return Parsed(path, BROKEN, stem(path), problems=(problem,))
    return Parsed(path, SOURCE, source.filename, source=source)


def _record(path: str, document: Document) -> Parsed:
    record, problems = model.read_record(document)
    if record is None:
        hinted = tuple(replace(p, hint=p.hint or f"mend the line; {_LEFT_AS_IT_WAS}") for p in problems)
        return Parsed(
            path, BROKEN, stem(path), document=document, problems=hinted, marks_record=True
        )
    title = record.title or stem(path)
    whole = record.kind != "page"
    return Parsed(
        path,
        RECORD,
        title,
        record=record,
        document=document,
        problems=tuple(problems),
        names=_names(path, title, record.aliases, record.id),
        aliases=record.aliases,
        tags=_tags(record.tags, document),
        links=tuple(links.extract_links(document.body, document.body_line)),
        passages=tuple(_passages(document, title, whole=whole, summary=record.summary)),
    )


def _note(path: str, document: Document) -> Parsed:
    given = document.fields.get("title")
    title = given if isinstance(given, str) and given.strip() else stem(path)
    aliases = _texts(document.fields.get("aliases")) + _texts(document.fields.get("alias"))
    return Parsed(
        path,
        NOTE,
        title,
        document=document,
        names=_names(path, title, aliases, ids.note_id(path)),
        aliases=tuple(aliases),
        tags=_tags(_texts(document.fields.get("tags")), document),
        links=tuple(links.extract_links(document.body, document.body_line)),
        passages=tuple(_passages(document, title, whole=False, summary=None)),
    )


def _passages(
    document: Document, title: str, *, whole: bool, summary: str | None
) -> list[passages.Passage]:
    """Split a body; a claim's or relationship's is one passage, and a page without a body has one."""
    found = passages.split_passages(document.body, document.body_line, title)
    if whole and found:
        text = document.body.strip()
        return [passages.Passage((), text, found[0].start_line, found[-1].end_line, 0)]
    if summary or not found:
        lead = passages.Passage((), summary or "", 1, 1, len(found))
        found = [lead, *found]
    return [
        passages.Passage(p.heading_path, p.text, p.start_line, p.end_line, n)
        for n, p in enumerate(found)
    ]


def _names(
    path: str, title: str, aliases: Iterable[str], identity: str
) -> tuple[tuple[str, str], ...]:
    """Return the names of a file for links, and its path for exact look-up."""
    whole = path[:-3] if path.lower().endswith(".md") else path
    found = [(name, source) for source, name in names_of(identity, path, title, aliases)]
    return tuple(dict.fromkeys([*found, (names.lookup_key(whole), "path")]))


def _tags(given: tuple[str, ...] | list[str], document: Document) -> tuple[str, ...]:
    inline = (tag.name for tag in links.extract_tags(document.body))
    folded = (names.lookup_key(tag.lstrip("#")) for tag in (*given, *inline))
    return tuple(dict.fromkeys(tag for tag in folded if tag))


def _texts(value: Value) -> list[str]:
    """Read a list as Obsidian does: a list, a single value, or words with commas."""
    if isinstance(value, list):
        return [
            str(item) for item in value if item is not None and not isinstance(item, dict | list)
        ]
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [] if value is None or isinstance(value, dict) else [str(value)]
