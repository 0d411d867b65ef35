"""A record in words: where it stands, and what it states."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from tui import looks
from tui.plain import content, joined, line, one, plural, stacked, when

_IDS = ("owner", "from", "to", "supersedes", "supersededBy", "mergedInto")
_LISTS = ("entities", "dependencies", "mergedFrom")


def head(view: dict[str, Any]) -> Content:
    """Return what a page's head says: title, standing, and why default reads do not see it."""
    first = joined(
        one(view["title"], "bold", 300),
        content(looks.standing(view), "reverse"),
        content(view["kind"], "dim"),
        one(view["type"] or "", "dim", 60),
        content(f"revision {view['revision']}" if view["revision"] else "a note", "dim"),
    )
    reasons = [one(f"✗ not eligible: {reason['message']}", limit=300) for reason in view["reasons"]]
    if view["followed"]:
        reasons.append(one(f"⇒ reached through {', '.join(view['followed'])}, merged into it"))
    return stacked(first, *reasons[:3])


def stated(view: dict[str, Any], names: dict[str, str]) -> Content:
    """Return what a record states beside its text, with the titles of records that it names."""

    def named(record_id: str) -> str:
        title = names.get(record_id)
        return f"{title} ({record_id})" if title else record_id

    rows: list[tuple[str, str]] = [("summary", view["summary"] or "")]
    rows += [(key, named(view[key])) for key in _IDS if view.get(key)]
    rows += [(key, ", ".join(named(i) for i in view[key])) for key in _LISTS if view[key]]
    rows += [(key, ", ".join(view[key])) for key in ("aliases", "tags", "touches") if view[key]]
    rows += [(str(key), ", ".join(map(named, texts(v)))) for key, v in view["fields"].items()]
    rows += [
        ("origin", view["origin"] or ""),
        ("confidence", "" if view["confidence"] is None else f"{view['confidence']:.0%}"),
        ("valid", _span(view["validFrom"], view["validUntil"])),
        ("expires", view["expiresAt"] or ""),
        ("lifecycle", _change(view)),
        ("eligible", _eligible(view)),
        ("evidence", plural(view["evidenceTotal"], "citation") if view["evidenceTotal"] else ""),
        ("backlinks", f"{view['backlinks']:,}" if view["backlinks"] else ""),
        ("updated", f"{when(view['updatedAt'])} UTC, recorded {when(view['recordedAt'])} UTC"),
        ("file", view["path"]),
        ("id", view["id"]),
    ]
    shown = [(line(name, 20), said) for name, said in rows if said]
    width = max(len(name) for name, _ in shown) + 2
    return stacked(
        *(joined(content(f"{n:<{width}}", "dim"), one(said, limit=600), by="") for n, said in shown)
    )


def _change(view: dict[str, Any]) -> str:
    change = view["lifecycleChange"]
    if not change:
        return "" if view["lifecycle"] == "active" else str(view["lifecycle"])
    who, at, why = (change.get(key) for key in ("actor", "at", "reason"))
    return f"{view['lifecycle']} by {who} at {at}: {why}"


def _eligible(view: dict[str, Any]) -> str:
    """Return why default reads see a record; why they do not see it stands at the head."""
    if not view["eligible"] or view["kind"] == "note":
        return ""
    ends = [view[key] for key in ("owner", "from", "to") if view[key]]
    below = len({*ends, *view["entities"], *view["dependencies"]})
    until = min(filter(None, (view["validUntil"], view["expiresAt"])), default=None)
    said = (
        "yes: active and valid",
        f"what it stands on is eligible ({plural(below, 'record')})" if below else "",
        f"until {until}" if until else "",
    )
    return ", ".join(part for part in said if part)


def _span(begin: str | None, end: str | None) -> str:
    return f"{begin or '…'} to {end or '…'}" if begin or end else ""


def texts(value: Any) -> list[str]:
    """Return the values of a field as texts."""
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]
