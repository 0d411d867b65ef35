"""What the parts of a record's page read: evidence, claims, connections and the names they need."""

from __future__ import annotations

import re
from typing import Any

from textual.content import Content

from tui.desk import Desk
from tui.listing import Item, Page, Reader
from tui.opening import ToRecord, ToSource
from tui.parts import describing
from tui.plain import content, joined, line, many, one, stacked
from vault_kg.errors import VaultError

MAX_QUOTED = 600

_ID = re.compile(r"(pg|cl|re)_[0-9a-z]{26}")


def evidence(view: dict[str, Any]) -> Reader:
    """Return what lists a record's evidence: its sources with the quoted lines."""
    items = [
        Item(f"cited-{n}", cited(item), ToSource(item["source"], item["lines"]))
        for n, item in enumerate(view["evidence"])
    ]
    return lambda *_: Page(items, view["evidenceTotal"])


def cited(item: dict[str, Any]) -> Content:
    """Return one citation with what the source says there."""
    if item["filename"] is None:
        sound = "! no such source"
    else:
        sound = "✓ source verified" if item["verified"] else "! the source's bytes changed"
    first = joined(
        one(item["filename"] or item["source"], "bold", 200),
        content(_where(item["lines"]), "dim"),
        content(sound),
        one(f"— {item['attribution']}" if item["attribution"] else "", "italic", 200),
    )
    said = item["quote"] or item["text"] or ""
    quoted = many(said, limit=MAX_QUOTED) if said else content("(nothing is quoted)", "dim")
    return stacked(first, *(joined(Content("  ┃"), part, by=" ") for part in quoted.split("\n")))


def _where(lines: str | None) -> str:
    if not lines:
        return ""
    return f"lines {line(lines, 30)}" if "-" in lines else f"line {line(lines, 30)}"


def claims(record_id: str) -> Reader:
    """Return what reads the claims about a page, each with its evidence quoted."""

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:
        found = desk.call(
            "knowledge_records", kind="claim", owner=record_id, cursor=cursor,
            limit=min(limit, 20),
        )  # fmt: skip
        items = [Item(r["id"], _claim(desk, r), ToRecord(r["id"])) for r in found["records"]]
        return Page(items, found["total"], found["nextCursor"])

    return read


def _claim(desk: Desk, record: dict[str, Any]) -> Content:
    try:
        view = desk.call("knowledge_get", id=record["id"], bodyLimit=2_000)
    except VaultError as error:
        return stacked(one(record["title"], "bold"), one(f"  ! {error.message}"))
    confidence = view["confidence"]
    first = joined(
        one(view["body"] or view["title"], "bold", 500),
        content(line(view["type"] or "", 40), "dim"),
        content("" if confidence is None else f"confidence {confidence:.0%}", "dim"),
    )
    return stacked(first, *(cited(item) for item in view["evidence"][:3]))


def connections(record_id: str) -> Reader:
    """Return what reads a record's connections, links and backlinks among them."""

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
        found = desk.call("knowledge_connections", id=record_id, limit=1_000)
        nodes = {n["id"]: n for n in found["nodes"]}
        items = []
        for n, edge in enumerate(found["edges"]):
            outward = edge["source"] == found["id"]
            other = edge["target"] if outward else edge["source"]
            look = _edge(edge, nodes.get(other, {"id": other, "title": other}), outward)
            items.append(Item(f"edge-{n}-{other}", look, ToRecord(other)))
            if edge["record"]:
                fact = joined(
                    content("  │ its record:", "dim"), one(edge["fact"] or edge["record"])
                )
                items.append(Item(f"fact-{n}", fact, ToRecord(edge["record"])))
        return Page(items, found["totalEdges"] if found["truncated"] else len(items))

    return read


def _edge(edge: dict[str, Any], other: dict[str, Any], outward: bool) -> Content:
    arrow = f"─ {line(edge['type'], 60)} →" if outward else f"← {line(edge['type'], 60)} ─"
    return joined(
        content(arrow, "dim"),
        one(other["title"], "bold", 200),
        one(other.get("type") or other.get("kind") or "", "dim", 60),
    )


def names(desk: Desk, view: dict[str, Any]) -> dict[str, str]:
    """Return the titles of the records that one names; what cannot be read keeps its id."""
    ids = [view[key] for key in ("owner", "from", "to", "supersedes", "supersededBy", "mergedInto")]
    ids += [i for key in ("entities", "dependencies", "mergedFrom") for i in view[key]]
    told = (text for value in view["fields"].values() for text in describing.texts(value))
    ids += [text for text in told if _ID.fullmatch(text)]
    found = {}
    for record_id in list(dict.fromkeys(i for i in ids if i))[:30]:
        try:
            other = desk.call("knowledge_get", id=record_id, followMerges=False, bodyLimit=1)
        except VaultError:
            continue
        found[record_id] = other["title"]
    return found
