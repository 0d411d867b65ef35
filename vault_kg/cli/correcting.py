"""`correct`: a complete replacement of a claim or relationship, composed from what stands."""

from __future__ import annotations

import sys
from typing import Any

import click

from vault_kg.cli import context, inspecting, receipts
from vault_kg.cli.context import Session, Settings
from vault_kg.errors import InvalidArgument

_COPIED = ("confidence", "origin", "validFrom", "validUntil", "dependencies", "tags")


class Citation(click.ParamType[dict[str, str]]):
    """`SOURCE` or `SOURCE:LINES`, like `sr_…:3-7`."""

    name = "citation"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        """Return the evidence item."""
        if isinstance(value, dict):
            return value
        source, _, lines = str(value).partition(":")
        if not source:
            self.fail("give a source id, and lines after a colon", param, ctx)
        return {"source": source, "lines": lines} if lines else {"source": source}


@context.command
@click.argument("name", metavar="ID|NAME")
@click.option("--statement", metavar="TEXT", help="What is right (a claim).")
@click.option("--fact", metavar="TEXT", help="What is right, as one sentence (a relationship).")
@receipts.reason
@click.option(
    "--evidence", metavar="SOURCE[:LINES]", type=Citation(), multiple=True, help="Where it says so."
)
@click.option(
    "--quote", metavar="TEXT", multiple=True, help="Verbatim; the n-th of the n-th evidence."
)
@click.option("--same-evidence", is_flag=True, help="The original's evidence says it.")
@click.option("--claim-kind", metavar="KIND", help="Another kind of claim.")
@click.option("--type", metavar="TYPE", help="Another type of relationship.")
@click.option("--owner", metavar="ID|NAME", help="Another page that it is about.")
@click.option("--from", "from_", metavar="ID|NAME", help="Another beginning.")
@click.option("--to", metavar="ID|NAME", help="Another end.")
@click.option("--valid-from", metavar="DATE", help='True since; "" for no date.')
@click.option("--valid-until", metavar="DATE", help='True until; "" for no date.')
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure.")
@click.option(
    "--origin", type=click.Choice(["user", "agent", "source", "inference"]), help="Whose word."
)
@click.option("--title", metavar="TITLE", help="A label; else its first words.")
@receipts.yes
@receipts.request_id
def correct(
    settings: Settings, name: str, reason: str, yes: bool, request_id: str | None, **given: Any
) -> None:
    """Replace a wrong claim or relationship.

    The original keeps its content and evidence and becomes superseded. What you do not say is taken
    from it (its kind, owner, times, …), as it stands when you are asked.
    """
    with context.session(settings) as session:
        if receipts.repeated(session, request_id):
            return
        view = session.call("knowledge_get", id=session.resolve(name))
        replacement = _replacement(session, view, given)
        fingerprint = session.call("knowledge_ontology", partition=view["partition"], limit=1)
        if not yes:
            _show(session, view, replacement)
        receipts.stop_unless(receipts.agreed("Replace it?", yes))
        receipt = session.change(
            "knowledge_correct", request_id, id=view["id"], expectedRevision=view["revision"],
            expectedHash=view["hash"], expectedOntologyFingerprint=fingerprint["fingerprint"],
            reason=reason, replacement=replacement,
        )  # fmt: skip
    receipts.tell(settings, receipt)


def _replacement(session: Session, view: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the complete replacement: what was said, and the rest from the original."""
    if view["kind"] not in ("claim", "relationship"):
        raise InvalidArgument(
            f"{view['id']} is a {view['kind']}; a page is changed in an editor, or with "
            "knowledge_save_page and knowledge_edit_body",
            id=view["id"],
        )
    said = {
        "title": given["title"], "validFrom": given["valid_from"],
        "validUntil": given["valid_until"], "confidence": given["confidence"],
        "origin": given["origin"],
    }  # fmt: skip
    copied = {key: view[key] for key in _COPIED if view[key] not in (None, [])}
    own = _claim if view["kind"] == "claim" else _relationship
    made = {
        "kind": view["kind"],
        "partition": view["partition"],
        **copied,
        **{key: value for key, value in said.items() if value is not None},
        **own(session, view, given),
        "evidence": _evidence(view, given),
    }
    return {key: value for key, value in made.items() if value not in (None, "")}


def _claim(session: Session, view: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    _refuse_foreign(given, ("fact", "type", "from_", "to"), "a relationship", view)
    return {
        "claimKind": given["claim_kind"] or view["type"],
        "statement": _text(given["statement"], "--statement", view),
        "owner": _page(session, given["owner"], view["owner"]),
        "entities": [_page(session, None, page) for page in view["entities"]] or None,
        "expiresAt": None if _expired(view) else view["expiresAt"],
    }


def _relationship(session: Session, view: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    _refuse_foreign(given, ("statement", "claim_kind", "owner"), "a claim", view)
    return {
        "type": given["type"] or view["type"],
        "fact": _text(given["fact"], "--fact", view),
        "from": _page(session, given["from_"], view["from"]),
        "to": _page(session, given["to"], view["to"]),
    }


def _refuse_foreign(
    given: dict[str, Any], options: tuple[str, ...], whose: str, view: dict[str, Any]
) -> None:
    wrong = next((o for o in options if given[o] is not None), None)
    if wrong is not None:
        option = "--" + wrong.rstrip("_").replace("_", "-")
        raise click.UsageError(f"{option} is for {whose}; {view['id']} is a {view['kind']}")


def _text(given: str | None, option: str, view: dict[str, Any]) -> str:
    if given is None and sys.stdin.isatty():
        from vault_kg.cli import render

        click.echo(f"Now: {render.text(view['body'])}", err=True)
        given = click.prompt("Right is", err=True)
    if not given or not given.strip():
        raise click.UsageError(f"say what is right with {option}")
    return given


def _page(session: Session, named: str | None, standing: str | None) -> str | None:
    """Return the page that is named, or the one that stands, through its merges."""
    if named is not None:
        return session.resolve(named)
    return str(session.call("knowledge_get", id=standing, bodyLimit=1)["id"]) if standing else None


def _expired(view: dict[str, Any]) -> bool:
    """Say whether a claim's `expiresAt` has passed: its replacement is not born expired."""
    ends = (reason["message"] for reason in view["reasons"] if reason["code"] == "is_past")
    return any(str(view["expiresAt"]) in message for message in ends)


def _evidence(view: dict[str, Any], given: dict[str, Any]) -> list[dict[str, str]]:
    quotes = list(given["quote"])
    items = [dict(item) for item in given["evidence"]]
    if len(quotes) > len(items):
        raise click.UsageError("each --quote belongs to an --evidence before it")
    for item, quote in zip(items, quotes, strict=False):
        item["quote"] = quote
    if given["same_evidence"]:
        keys = ("source", "lines", "quote", "attribution")
        items += [{k: e[k] for k in keys if e[k] is not None} for e in view["evidence"]]
    if not items:
        raise click.UsageError(
            "a replacement needs evidence: --evidence SOURCE[:LINES] (`vault-kg attach FILE` makes "
            "a source), or --same-evidence where the original's says it"
        )
    return items


def _show(session: Session, view: dict[str, Any], replacement: dict[str, Any]) -> None:
    from vault_kg.cli import render

    click.echo(render.heading(render.line(f"{view['type']}  {view['id']}")), err=True)
    click.echo(render.block(view["body"], "- "), err=True)
    click.echo(
        render.block(replacement.get("statement") or replacement.get("fact"), "+ "), err=True
    )
    kept = {k: v for k, v in replacement.items() if k not in ("statement", "fact", "kind")}
    click.echo("\n".join(render.labelled((k, _shown(v)) for k, v in kept.items())), err=True)
    impact = session.call("knowledge_impact", id=view["id"], operation="correct")
    click.echo("\n".join(inspecting.impact_lines(impact)), err=True)


def _shown(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return "; ".join(_cited(v) if isinstance(v, dict) else str(v) for v in value)


def _cited(item: dict[str, str]) -> str:
    where = ":".join(item[key] for key in ("source", "lines") if key in item)
    return f"{where} “{item['quote']}”" if "quote" in item else where
