"""How work under way looks in lists: sessions and their candidates, debt, chores, what is broken."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from tui.plain import content, joined, line, one, plural, stacked, when

_APPLIED = ("added", "updated", "superseded", "noop")


def artefact(value: dict[str, Any]) -> str:
    """Return what a session consolidates: its kind, id and version."""
    version = f" v{value['source_version']}" if value["source_version"] else ""
    return f"{value['source_type'] or '?'} {value['source_id'] or '?'}{version}"


def open_session(value: dict[str, Any]) -> Content:
    """Return a session that can still be committed."""
    first = joined(
        content("… open" if value["committable"] else "! commit failed", "bold"),
        one(artefact(value), limit=200),
        one(value["agent"], "dim", 40),
    )
    counts = f"  {plural(value['nodes'], 'node')}, {plural(value['edges'], 'edge')}"
    return stacked(
        first,
        joined(
            content(counts, "dim"),
            content(f"expires {when(value['expires_at'])}", "dim"),
            one(value["failure"] or "", "italic", 300),
        ),
    )


def committed_session(value: dict[str, Any]) -> Content:
    """Return a session that was committed."""
    first = joined(
        content(when(value["committed_at"]), "dim"),
        one(value["agent"], "bold", 40),
        one(artefact(value), limit=200),
        content("✗ undone" if value["undone"] else "", "reverse"),
    )
    counts = [f"{len(value['applied'].get(k, ())):,} {k}" for k in _APPLIED]
    counts.append(f"{len(value['edges_added']):,} edges")
    summary = one(value["summary"] or "", "italic", 300)
    return stacked(first, joined(content("  " + ", ".join(counts), "dim"), summary))


def session_candidate(value: dict[str, Any], override: dict[str, Any] | None) -> Content:
    """Return a candidate with its hint and why, and what the agent decided otherwise."""
    proposal = value["proposal"]
    hint = proposal["hint"] if proposal else "not proposed yet"
    first = joined(
        content(hint, "bold"),
        one(value["type"], "dim", 60),
        one(value["title"] if value["kind"] == "node" else _ends(value), limit=200),
        one(value["candidate_id"], "dim", 40),
    )
    why = joined(Content(" "), one(proposal["rationale"], limit=300)) if proposal else ""
    if override is None:
        return stacked(first, why)
    decided = f"  overridden: {override.get('hint')}"
    return stacked(first, why, joined(content(decided), one(override.get("rationale") or "")))


def _ends(value: dict[str, Any]) -> str:
    ends = (next(iter(value[end].values()), "?") for end in ("src", "dst"))
    return " → ".join(line(end, 60) for end in ends)


def unresolved(value: dict[str, Any], why: str) -> Content:
    """Return a record that stands on something that is gone, and on what."""
    first = joined(
        content("! left unresolved", "bold"),
        one(value["title"], limit=200),
        one(value["type"] or value["kind"], "dim", 60),
    )
    return stacked(first, joined(Content(" "), one(why)))


def debt(value: dict[str, Any]) -> Content:
    """Return a graph that needs maintenance."""
    first = joined(content(f"! debt {value['verdict']}", "bold"), one(value["partition"], limit=60))
    return stacked(first, joined(Content(" "), one(value["debt_line"])))


def chore(value: dict[str, Any]) -> Content:
    """Return a piece of maintenance that an agent could do next."""
    first = joined(
        content(f"? next chore: {value['kind']}", "bold"), one(value["partition"], limit=60)
    )
    pages = ", ".join(line(t["id"], 60) for t in value["targets"][:6])
    return stacked(first, joined(Content(" "), one(pages), one(value["gate"] or "", "italic")))
