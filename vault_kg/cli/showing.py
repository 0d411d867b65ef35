"""`show`: one record as a person wants to see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_kg.cli import context, moments
from vault_kg.cli.context import Session, Settings

MAX_CLAIMS = 50


@context.command
@click.argument("name", metavar="ID|NAME")
@click.option("--revision", type=click.IntRange(1), help="As this revision stood.")
@click.option("--commit", metavar="COMMIT", help="As it stood in this Git commit.")
@moments.option
def show(
    settings: Settings, name: str, revision: int | None, commit: str | None, as_of: Any
) -> None:
    """Show one record with its claims, connections and evidence.

    NAME is an id, a title, an alias or a path. A source id (sr_…) shows what the source says.
    """
    from vault_kg.cli import render

    if sum(given is not None for given in (revision, commit, as_of)) > 1:
        raise click.UsageError("give one of --revision, --commit and --as-of")
    with context.session(settings) as session:
        if name.startswith("sr_"):
            _show_source(session, name)
            return
        then = {"revision": revision, "commit": commit, "asOf": as_of}
        view = session.call("knowledge_get", id=session.resolve_any(name), **then)
        if settings.json:
            render.print_json(view)
            return
        render.echo_lines(_record(session, view))


def _show_source(session: Session, name: str) -> None:
    from vault_kg.cli import render

    view = session.call("knowledge_source", id=name, maxChars=1_000_000)
    if session.settings.json:
        render.print_json(view)
        return
    state = "verified" if view["verified"] else render.warn("its bytes have changed")
    click.echo(f"{render.heading(render.line(view['filename']))}  {render.line(view['mediaType'])}")
    click.echo(f"{render.line(view['id'])} · {view['size']:,} bytes · {state}\n")
    click.echo(render.text(view["text"]))
    if view["truncated"]:
        click.echo(f"… of {view['totalLines']:,} lines; the rest is in {view['path']}", err=True)


def _record(session: Session, view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    yield from _head(view)
    if view["summary"]:
        yield "\n" + render.wrapped(view["summary"])
    yield from _stated(view)
    if view["body"].strip():
        yield "\n" + render.block(view["body"], "")
    yield from _evidence(view, "Evidence", "")
    if view["asOf"] is not None:
        return
    if view["kind"] == "page":
        yield from _claims(session, view)
    yield from _connections(session, view)


def _head(view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    kind = view["type"] or view["kind"]
    described = kind if kind == view["kind"] else f"{kind} ({view['kind']})"
    yield f"{render.heading(render.line(view['title']))}  {render.line(described)}"
    revision = f"revision {view['revision']}" if view["revision"] else "a note, not adopted"
    yield render.dim(render.line(f"{view['id']} · {revision} · {view['path']}"))
    for page in view["followed"]:
        yield f"{page} was merged into it"
    if view["asOf"] is not None:
        moment = ", ".join(f"{key} {value}" for key, value in view["asOf"].items())
        yield render.warn(f"as it stood: {render.line(moment)}")
    elif view["eligible"]:
        yield f"{view['lifecycle']}, seen by default reads"
    else:
        yield render.warn(f"{view['lifecycle']}, not seen by default reads")
    for reason in view["reasons"]:
        yield render.wrapped(f"- {reason['message']} ({reason['code']})", "  ")


def _stated(view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    change = view["lifecycleChange"] or {}
    rows: list[tuple[str, Any]] = [
        (str(key), _value(value)) for key, value in view["fields"].items()
    ]
    rows += [
        ("from", view["from"]), ("to", view["to"]), ("owner", view["owner"]),
        ("entities", render.listed(view["entities"])), ("origin", view["origin"]),
        ("confidence", view["confidence"]), ("valid from", view["validFrom"]),
        ("valid until", view["validUntil"]), ("expires", view["expiresAt"]),
        ("aliases", render.listed(view["aliases"])), ("tags", render.listed(view["tags"])),
        ("depends on", render.listed(view["dependencies"])),
        ("touches", render.listed(view["touches"])), ("supersedes", view["supersedes"]),
        ("superseded by", view["supersededBy"]), ("merged into", view["mergedInto"]),
        ("merged from", render.listed(view["mergedFrom"])), ("reason", change.get("reason")),
        ("recorded", view["recordedAt"]), ("updated", view["updatedAt"]),
    ]  # fmt: skip
    shown = list(render.labelled(rows))
    if shown:
        yield ""
        yield from shown


def _claims(session: Session, view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    found = session.call("knowledge_records", kind="claim", owner=view["id"], limit=MAX_CLAIMS)
    if not found["records"]:
        return
    yield "\n" + render.heading(f"Claims ({found['total']})")
    for item in found["records"]:
        claim = session.call("knowledge_get", id=item["id"])
        validity = [
            f"{w} {claim[k]}"
            for w, k in (("from", "validFrom"), ("until", "validUntil"))
            if claim[k]
        ]
        said = [claim["id"], claim["type"] or "claim", *validity]
        yield "  " + render.dim(render.line(" · ".join(said)))
        yield render.wrapped(claim["body"], "    ")
        yield from _evidence(claim, "", "      ")
    if found["total"] > len(found["records"]):
        yield render.dim(f"  … and {found['total'] - len(found['records'])} more: vault-kg records "
                         f"--kind claim --owner {view['id']}")  # fmt: skip


def _evidence(view: dict[str, Any], title: str, indent: str) -> Iterator[str]:
    from vault_kg.cli import render

    if title and view["evidence"]:
        yield "\n" + render.heading(f"{title} ({view['evidenceTotal']})")
        indent += "  "
    for item in view["evidence"]:
        quoted = item["quote"] or item["text"]
        if quoted:
            yield render.wrapped(f"“{quoted}”", indent)
        where = item["filename"] or item["source"]
        plural = "s" if "-" in (item["lines"] or "") else ""
        lines = f", line{plural} {item['lines']}" if item["lines"] else ""
        by = f", {item['attribution']}" if item["attribution"] else ""
        mark = "" if item["verified"] else "  " + render.warn("not verified")
        told = render.line(f"— {where}{lines}{by} ({item['source']})")
        yield f"{indent}{render.dim(told)}{mark}"


def _connections(session: Session, view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import found, render

    result = session.call("knowledge_connections", id=view["id"], limit=50)
    told = "owner" if view["kind"] == "page" else None  # of the claims above
    own = [e for e in result["edges"] if e["explicit"] or e["type"] != told]
    if own:
        yield "\n" + render.heading("Connections")
        yield from found.connection_lines(result | {"edges": own})
    if view["backlinks"]:
        yield "\n" + render.dim(f"linked from {view['backlinks']} place(s)")


def _value(value: Any) -> str:
    from vault_kg.cli import render

    return render.listed(value) if isinstance(value, list) else str(value)
