"""One vault file, parsed: what the catalog needs to know of it, from its bytes alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from vault_kg.index import fts
from vault_kg.index.fts import Entry
from vault_kg.records import ids, merge_markers, model, names
from vault_kg.records.blocks import Layout, read_layout
from vault_kg.records.frontmatter import Document, FrontMatterError, Value, parse
from vault_kg.records.link_targets import link_names, names_of
from vault_kg.records.links import Link, References, extract_references
from vault_kg.records.model import Problem, Record
from vault_kg.records.passages import Passage, split_passages
from vault_kg.store import paths, sources
from vault_kg.store.files import Stamp
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
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    link_names: tuple[tuple[str, ...], ...] = ()
    """Of each link, the names under which what it leads to may be known."""
    entries: tuple[Entry, ...] = ()
    """Its passages, ready for the index."""
    marks_record: bool = field(default=False)
    """A broken file that says it is a record, so that what it was is still spoken for."""


@dataclass(frozen=True)
class Looked:
    """A file as it was read at `seen_ns`; of a note, whose bytes go nowhere, without them."""

    content: bytes
    parsed: Parsed
    hash: str
    stamp: Stamp
    seen_ns: int = 0


def parse_file(path: str, content: bytes) -> Parsed:
    """Parse a vault file; never raises for what the bytes hold."""
    if is_source_descriptor(path):
        return _source(path, content)
    if not path.lower().endswith(".md"):
        return Parsed(path, OTHER)
    try:
        document = parse(content)
    except FrontMatterError as error:
        in_git = error.reason == merge_markers.REASON
        how = merge_markers.HINT if in_git else "mend the lines between the --- fences"
        said = (error.reason, error.line, f"{how}; {_LEFT_AS_IT_WAS}")
        problem = Problem("broken_front_matter", *said)
        if b"knowledge-record-" in content:
            return Parsed(path, BROKEN, stem(path), problems=(problem,), marks_record=True)
        return replace(_note(path, _as_plain_text(content)), problems=(problem,))
    if not document.has_front_matter and b"knowledge-record-" in content:
        line = merge_markers.line_in(document.body)
        if line == 1:
            problem = Problem("broken_front_matter", merge_markers.REASON, 1, merge_markers.HINT)
            return Parsed(path, BROKEN, stem(path), problems=(problem,), marks_record=True)
    return _record(path, document) if model.is_record(document) else _note(path, document)


def _as_plain_text(content: bytes) -> Document:
    """Read a note whose front matter is broken as text without any, so that its words are found."""
    text = content.decode("utf-8", errors="replace")
    return Document(content, False, "\n", False, {}, {}, text, 1)


def from_git(path: str) -> str:
    """Return how to bring a file back that is gone, or not as it was."""
    return (
        f"bring it back with `git restore -- {path}`, or from the commit that has it "
        f"(`git log -- {path}`)"
    )


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


def is_statement(path: str) -> bool:
    """Say whether a path is one of a partition's claims or relationships."""
    parts = path.split("/")
    return len(parts) > 2 and parts[1] in ("claims", "relationships")


def stem(path: str) -> str:
    """Return a file's name without its Markdown suffix."""
    name = path.rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") else name


def _source(path: str, content: bytes) -> Parsed:
    try:
        source = sources.read_descriptor(path, content)
    except ValueError as error:
        said = f"not a source descriptor: {error}" if content.strip() else "the file is empty"
        problem = Problem("invalid_source", said, 1, from_git(path))
        return Parsed(path, BROKEN, stem(path), problems=(problem,))
    return Parsed(path, SOURCE, source.filename, source=source)


def _record(path: str, document: Document) -> Parsed:
    record, problems = model.read_record(document)
    if record is None:
        hinted = tuple(
            replace(p, hint=p.hint or f"mend the line; {_LEFT_AS_IT_WAS}") for p in problems
        )
        return Parsed(
            path, BROKEN, stem(path), document=document, problems=hinted, marks_record=True
        )
    title = record.title if names.is_visible(record.title) else stem(path)
    layout = read_layout(document.body)
    found = _passages(document, layout, title, record.summary)
    if record.kind != "page" and document.body.strip():
        found = [Passage((), document.body.strip(), found[0].start_line, found[-1].end_line, 0)]
    pointed = extract_references(document.body, document.body_line, layout=layout)
    return Parsed(
        path,
        RECORD,
        title,
        record=record,
        document=document,
        problems=tuple(problems),
        names=_names(path, title, record.aliases, record.id),
        tags=_tags(record.tags, pointed),
        links=tuple(pointed.links),
        link_names=tuple(link_names(link.target) for link in pointed.links),
        entries=fts.prepare(title, found, record.aliases),
    )


def _note(path: str, document: Document) -> Parsed:
    given = document.fields.get("title")
    is_name = isinstance(given, str | int | float) and not isinstance(given, bool)
    title = str(given) if is_name and names.is_visible(str(given)) else stem(path)
    aliases = note_aliases(document)
    layout = read_layout(document.body)
    pointed = extract_references(document.body, document.body_line, layout=layout)
    return Parsed(
        path,
        NOTE,
        title,
        document=document,
        problems=tuple(model.conflict_in(document, "warning")),
        names=_names(path, title, aliases, ids.note_id(path)),
        tags=_tags(_texts(document.fields.get("tags")), pointed),
        links=tuple(pointed.links),
        link_names=tuple(link_names(link.target) for link in pointed.links),
        entries=fts.prepare(title, _passages(document, layout, title, None), aliases),
    )


def note_aliases(document: Document) -> list[str]:
    """Return the other names that a note gives itself."""
    return _texts(document.fields.get("aliases")) + _texts(document.fields.get("alias"))


def _passages(document: Document, layout: Layout, title: str, summary: str | None) -> list[Passage]:
    """Split a body; a summary is a passage of its own, and so is a title without a body."""
    found = split_passages(document.body, document.body_line, title, layout=layout)
    if found and not summary:
        return found
    lead = Passage((), summary or "", 1, 1, 0)
    return [lead, *(passage._replace(ordinal=passage.ordinal + 1) for passage in found)]


def _names(
    path: str, title: str, aliases: Iterable[str], identity: str
) -> tuple[tuple[str, str], ...]:
    """Return the names of a file for links, and its path for exact look-up."""
    whole = path[:-3] if path.lower().endswith(".md") else path
    found = [(name, source) for source, name in names_of(identity, path, title, aliases)]
    return tuple(dict.fromkeys([*found, (names.lookup_key(whole), "path")]))


def _tags(given: Iterable[str], pointed: References) -> tuple[str, ...]:
    inline = (tag.name for tag in pointed.tags)
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
