"""How things look in lists: two lines each, words beside every sign, nothing by colour alone."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from tui.plain import content, joined, line, one, plural, stacked, when

_DONE = {
    "knowledge_save_page": "saved page",
    "knowledge_edit_body": "edited page",
    "knowledge_save_claim": "recorded claim",
    "knowledge_save_relationship": "recorded relationship",
    "knowledge_correct": "corrected",
    "knowledge_withdraw": "withdrew",
    "knowledge_merge": "merged",
    "knowledge_unmerge": "took a merge back",
    "knowledge_attach_file": "retained source",
    "knowledge_attach": "retained source",
    "knowledge_adopt": "adopted note",
    "knowledge_restore": "restored",
    "knowledge_review": "resolved conflict",
    "observe": "edited",
}
_STATE = {
    "accepted": "… not yet written",
    "installing": "… being written",
    "conflicted": "! conflict",
    "resolved": "✓ resolved",
    "abandoned": "✗ abandoned",
}
_GIT = {"committed": "✓ in Git", "pending": "… waits for Git", "unavailable": "! Git unavailable"}
_LIFECYCLE = {
    "active": "",
    "superseded": "→ superseded",
    "withdrawn": "✗ withdrawn",
    "merged": "⇒ merged",
}


def done(operation: str) -> str:
    """Return what an operation did, as a verb."""
    return _DONE.get(operation, operation.removeprefix("knowledge_").replace("_", " "))


def entry(value: dict[str, Any]) -> Content:
    """Return a journal entry."""
    state = _STATE.get(value["state"]) or _GIT[value["git"]["state"]]
    many = value["touchedTotal"]
    first = joined(
        content(when(value["publishedAt"] or value["acceptedAt"]), "dim"),
        one(value["actor"], "bold", 30),
        content(done(value["operation"])),
        one(value["label"] or value["targetId"] or "", limit=200),
    )
    second = joined(
        content("  " + state, "dim"),
        content(plural(many, "record") if many > 1 else "", "dim"),
        one(value["reason"] or "", "italic", 300),
    )
    return stacked(first, second)


def record(value: dict[str, Any]) -> Content:
    """Return a record in a list."""
    first = joined(one(value["title"], "bold", 300), content(standing(value), "reverse"))
    second = joined(
        content(f"  {value['kind']}", "dim"),
        one(value.get("type") or "", "dim", 60),
        one(value.get("summary") or value["path"], limit=300),
    )
    return stacked(first, second)


def standing(value: dict[str, Any]) -> str:
    """Return how a record stands, where it is not simply current."""
    said = _LIFECYCLE.get(value["lifecycle"], value["lifecycle"])
    if not said and value.get("eligible") is False:
        return "✗ not eligible"
    return str(said)


def hit(value: dict[str, Any]) -> Content:
    """Return a search hit: its title, why it was found, and its passage with marks."""
    evidence = value["search"]
    why = [
        "exact name" if evidence["exact_name"] else "",
        "words: " + ", ".join(line(t, 30) for t in evidence["matched_terms"][:6])
        if evidence["matched_terms"]
        else "",
        f"meaning {evidence['similarity']:.2f}" if evidence["similarity"] is not None else "",
    ]
    first = joined(
        one(value["title"], "bold", 200),
        content(standing(value), "reverse"),
        content(value["kind"], "dim"),
        one(value.get("type") or "", "dim", 60),
        content(" · ".join(w for w in why if w), "dim"),
    )
    where = one(value["heading"] or "", "dim", 80)
    return stacked(first, joined(Content("  "), where, marked(value["snippet"], value["marks"])))


def marked(snippet: str, marks: list[list[int]]) -> Content:
    """Return a snippet on one line, what matched underlined and bold."""
    parts, at = [], 0
    for start, end in marks:
        if start < at:
            continue
        parts += [_piece(snippet[at:start]), _piece(snippet[start:end], "bold underline")]
        at = end
    return Content("").join([*parts, _piece(snippet[at:])])


def _piece(text: str, style: str = "") -> Content:
    """Return a part of a line; the spaces at its ends stay."""
    kept = line(text, 1_000)
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and kept else ""
    return content(before + kept + after, style)


def finding(value: dict[str, Any]) -> Content:
    """Return something to look at."""
    sign = "! error" if value["severity"] == "error" else "? warning"
    where = value["path"] or value["record"] or ""
    if value["line"]:
        where = f"{where}:{value['line']}"
    first = joined(content(sign, "bold"), content(value["code"]), one(where, limit=200))
    return stacked(first, joined(Content(" "), one(value["message"])))


def conflict(value: dict[str, Any]) -> Content:
    """Return a conflict that waits."""
    first = joined(content("! conflict", "bold"), one(value["path"], limit=200))
    who = f"{line(value['actor'], 40)} {done(value['operation'])}, somebody had edited the file"
    reason = one(value["reason"] or "", "italic", 200)
    return stacked(
        first, joined(content("  " + who), reason, content(when(value["foundAt"]), "dim"))
    )


def candidate(value: dict[str, Any]) -> Content:
    """Return two pages that may be one."""
    first = joined(
        content("? may be one", "bold"),
        one(value["titles"][0], limit=100),
        content("and", "dim"),
        one(value["titles"][1], limit=100),
    )
    why = f"  {line(value['type'], 40)}, {value['strength']}: {line(value['reason'])}"
    return stacked(first, content(why))


def source(value: dict[str, Any]) -> Content:
    """Return a retained source."""
    first = joined(
        one(value["filename"], "bold", 200),
        one(value["mediaType"], "dim", 60),
        content(f"{value['size']:,} bytes", "dim"),
    )
    said = one(value["attribution"] or value["path"], limit=300)
    return stacked(first, joined(Content(" "), content(when(value["recordedAt"]), "dim"), said))


def revision(value: dict[str, Any]) -> Content:
    """Return a revision of a record."""
    first = joined(
        content(f"revision {value['revision']}", "bold"),
        content(when(value["at"]), "dim"),
        one(value["actor"], limit=40),
        content(done(value["operation"])),
        content(_LIFECYCLE.get(value["lifecycle"], value["lifecycle"]), "reverse"),
        content((value["commit"] or "")[:10], "dim"),
    )
    reason = value["reason"]
    return stacked(first, joined(Content(" "), one(reason, "italic")) if reason else "")
