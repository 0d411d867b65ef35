"""`corrections.yaml` at the vault's root: read with its lines, and marked where it was applied.

A person writes it. What is applied gets one line, `applied_at`, after its `id`; nothing else of the
file changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from vault_kg.errors import UnsafePath
from vault_kg.operations.workspace import Workspace
from vault_kg.records.yaml_layout import Layout
from vault_kg.records.yaml_nodes import Entry, Mapping, Node, Sequence, YamlError
from vault_kg.records.yaml_reader import compose
from vault_kg.store import files
from vault_kg.store.paths import DEFAULT_PARTITION

PATH = "corrections.yaml"
_TEXTS = ("canonical", "canonical_uuid", "group_id", "kind", "reason", "edge_uuid", "applied_at")
_LISTS = ("aliases", "alias_uuids")
_KEYS = frozenset({"id", "type", *_TEXTS, *_LISTS})


@dataclass(frozen=True)
class Issue:
    """Something that is wrong in the file, and at which line."""

    line: int
    message: str
    id: str | None = None


@dataclass(frozen=True)
class Correction:
    """One entry of the file."""

    id: str
    type: Literal["same_as", "retract"]
    line: int
    group: str
    canonical: str | None = None
    canonical_uuid: str | None = None
    aliases: tuple[str, ...] = ()
    alias_uuids: tuple[str, ...] = ()
    kind: str | None = None
    edge_uuid: str | None = None
    reason: str | None = None
    applied_at: str | None = None

    @property
    def request_id(self) -> str:
        """The id under which it is applied once: the same entry is the same request."""
        said = {k: v for k, v in vars(self).items() if k not in ("line", "applied_at")}
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
        return f"correction-{digest[:32]}"


@dataclass(frozen=True)
class Corrections:
    """The file as it was read; `content` is None where there is none."""

    content: bytes | None
    entries: tuple[Correction, ...] = ()
    issues: tuple[Issue, ...] = ()


def read(ws: Workspace) -> Corrections:
    """Read the file; nothing in it raises."""
    try:
        content = files.read(ws.vault.root, PATH)
    except (UnsafePath, OSError) as error:
        return Corrections(b"", issues=(Issue(1, f"cannot be read: {error}"),))
    if content is None:
        return Corrections(None)
    try:
        root = compose(content.decode().removeprefix("\ufeff")).root
    except UnicodeDecodeError:
        return Corrections(content, issues=(Issue(1, "is not UTF-8"),))
    except YamlError as error:
        return Corrections(content, issues=(Issue(error.line, error.reason),))
    if root is None or root.value is None:
        return Corrections(content)
    found = list(_entries(root))
    entries = tuple(each for each in found if isinstance(each, Correction))
    issues = [each for each in found if isinstance(each, Issue)]
    seen: dict[str, int] = {}
    for each in entries:
        if each.id in seen:
            issues.append(Issue(each.line, f"id is that of line {seen[each.id]} too", each.id))
        seen.setdefault(each.id, each.line)
    return Corrections(content, entries, tuple(sorted(issues, key=lambda i: i.line)))


def marked(content: bytes, correction_id: str, at: str) -> bytes:
    """Return the file with an entry marked as applied; all else stays byte for byte."""
    text = content.decode()
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    root = compose(text).root
    assert root is not None, "it was read before"
    item, entry = next(
        (item, entry)
        for item in _items(root)
        if isinstance(item, Mapping) and (entry := _entry(item, "id")) is not None
        and str(entry.value.value) == correction_id
    )  # fmt: skip
    standing = _entry(item, "applied_at")
    if standing is not None:
        start, end, said = standing.value.start, standing.value.end, f'"{at}"'
        if standing.value.value is None:
            start = end = text.index(":", standing.key.end) + 1
            said = " " + said
    elif item.flow:
        start = end = entry.value.end
        said = f', applied_at: "{at}"'
    else:
        layout = Layout(text)
        newline = "\r\n" if "\r\n" in text else "\n"
        start = end = layout.line_end(entry.value.start)
        line = f'{" " * layout.column(entry.key.start)}applied_at: "{at}"'
        ends = text[:start].endswith(("\n", "\r"))
        said = f"{line}{newline}" if ends else f"{newline}{line}"
    return (mark + text[:start] + said + text[end:]).encode()


def _entries(root: Node) -> Iterator[Correction | Issue]:
    if not isinstance(root, Mapping) or "corrections" not in root.value:
        yield Issue(1, "must be a mapping with a list `corrections`")
        return
    listed = _entry(root, "corrections")
    if listed is None or not isinstance(listed.value, Sequence):
        if listed is not None and listed.value.value is not None:
            yield Issue(listed.key.line, "corrections must be a list")
        return
    for item in listed.value.items:
        yield _correction(item)


def _items(root: Node) -> list[Node]:
    listed = _entry(root, "corrections") if isinstance(root, Mapping) else None
    return listed.value.items if listed and isinstance(listed.value, Sequence) else []


def _entry(node: Mapping, name: str) -> Entry | None:
    return next((entry for entry in node.entries if entry.name == name), None)


def _correction(item: Node) -> Correction | Issue:
    if not isinstance(item, Mapping):
        return Issue(item.line, "each correction is a mapping")
    values: dict[str, Any] = item.value
    given = values.get("id")
    if not isinstance(given, str | int) or not str(given).strip():
        return Issue(item.line, "each correction needs an id")
    correction_id = str(given)
    wrong = _wrong(values)
    if wrong is not None:
        return Issue(item.line, wrong, correction_id)
    kind: Literal["same_as", "retract"] = (
        "same_as" if str(values["type"]).lower() == "same_as" else "retract"
    )
    texts = {key: str(values[key]) for key in _TEXTS if values.get(key) not in (None, "")}
    aliases, uuids = (tuple(str(v) for v in values.get(key) or ()) for key in _LISTS)
    return Correction(
        correction_id, kind, item.line, texts.get("group_id", DEFAULT_PARTITION),
        canonical=texts.get("canonical"), canonical_uuid=texts.get("canonical_uuid"),
        aliases=aliases, alias_uuids=uuids, kind=texts.get("kind"),
        edge_uuid=texts.get("edge_uuid"), reason=texts.get("reason"),
        applied_at=texts.get("applied_at"),
    )  # fmt: skip


def _wrong(values: dict[str, Any]) -> str | None:
    """Say what keeps an entry from being a correction."""
    kind = str(values.get("type") or "").lower()
    if kind not in ("same_as", "retract"):
        return "type must be same_as or retract"
    unknown = sorted(set(values) - _KEYS)
    if unknown:
        return f"unknown key {', '.join(unknown)}"
    for key in _LISTS:
        listed = values.get(key)
        if listed is not None and not (
            isinstance(listed, list) and all(isinstance(v, str | int) for v in listed)
        ):
            return f"{key} must be a list of texts"
    if any(isinstance(values.get(key), list | dict) for key in _TEXTS):
        return "only aliases and alias_uuids are lists"
    if kind == "retract":
        return None if values.get("edge_uuid") else "retract needs edge_uuid"
    if not (values.get("canonical") or values.get("canonical_uuid")):
        return "same_as needs canonical or canonical_uuid"
    return None if values.get("aliases") or values.get("alias_uuids") else "same_as needs aliases"
