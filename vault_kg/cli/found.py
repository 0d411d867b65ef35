"""How lists, hits, connections and histories look to a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_kg.cli import render


def print_hits(result: dict[str, Any]) -> None:
    """Print search hits: title, where it is, the passage, and why it was found."""
    hits = result["hits"]
    if not hits:
        click.echo("Nothing was found.", err=True)
    for number, hit in enumerate(hits, 1):
        kind = hit.get("type") or hit["kind"]
        click.echo(f"{number:>2}. {render.heading(render.line(hit['title']))}  {render.line(kind)}")
        where = hit["path"] + (f":{hit['lines']}" if hit.get("lines") else "")
        click.echo(f"    {render.dim(render.line(hit['id']))}  {render.dim(render.line(where))}")
        if hit.get("snippet"):
            click.echo("    " + _marked(hit["snippet"], hit["marks"]))
        if why := _why(hit.get("search") or {}):
            click.echo(f"    {render.dim(why)}")
    _say_rest(result, len(hits))
    semantic = result.get("semantic") or {}
    if semantic.get("state") == "degraded":
        click.echo(
            f"Search by meaning is degraded: {render.line(semantic.get('reason'))}", err=True
        )
    elif semantic.get("pending"):
        click.echo(f"Search by meaning: {render.line(semantic['reason'])}", err=True)


def print_records(result: dict[str, Any]) -> None:
    """Print a table of records."""
    rows = [
        [
            render.line(record["id"]),
            render.line(record["type"] or record["kind"]),
            f"r{record['revision']}" if record["revision"] else "note",
            _state(record),
            str(record["updatedAt"])[:10],
            render.line(record["title"]),
        ]
        for record in result["records"]
    ]
    if all(not row[3] for row in rows):
        rows = [row[:3] + row[4:] for row in rows]
    render.echo_lines(render.table(rows, flexible=len(rows[0]) - 1 if rows else 0))
    if not rows:
        click.echo("No record fits.", err=True)
    _say_rest(result, len(rows))


def connection_lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield the edges of a neighbourhood, seen from its centre."""
    titles = {node["id"]: node for node in result["nodes"]}
    for edge in result["edges"]:
        yield _edge(edge, titles, result["id"])
    if not result["edges"]:
        yield render.dim("no connections")
    if result["truncated"]:
        yield render.dim(f"{len(result['edges'])} of {result['totalEdges']} connections are shown")


def print_history(result: dict[str, Any]) -> None:
    """Print revisions, each with its diff where there is one."""
    for revision in result["revisions"]:
        commit = (revision["commit"] or "not in Git yet")[:10]
        head = f"r{revision['revision']}  {revision['at']}  {revision['operation']}"
        click.echo(f"{render.heading(render.line(head))}  by {render.line(revision['actor'])}")
        told = [commit, revision["lifecycle"], revision["path"]]
        click.echo(f"    {render.dim('  '.join(render.line(part) for part in told))}")
        if revision["reason"]:
            click.echo(render.wrapped(revision["reason"], "    "))
        if revision["diff"]:
            click.echo(render.diff(revision["diff"]))
    _say_rest(result, len(result["revisions"]))


def _edge(edge: dict[str, Any], titles: dict[str, Any], centre: str) -> str:
    outward = edge["source"] == centre or edge["target"] != centre
    arrow, far = ("→", edge["target"]) if outward else ("←", edge["source"])
    node = titles.get(far, {})
    said = f"{arrow} {edge['type']}  {node.get('title') or far}"
    if edge["source"] != centre and edge["target"] != centre:
        near = titles.get(edge["source"], {}).get("title") or edge["source"]
        said = f"{near} {said}"
    parts = [render.line(said), render.dim(render.line(far))]
    if edge.get("fact"):
        parts.append(render.line(edge["fact"]))
    return "  " * int(edge["depth"]) + "  ".join(parts)


def _state(record: dict[str, Any]) -> str:
    if record["lifecycle"] != "active":
        return str(record["lifecycle"])
    return "" if record["eligible"] else "hidden"


def _why(search: dict[str, Any]) -> str:
    parts = []
    if terms := search.get("matched_terms"):
        parts.append(f"words: {render.listed(terms)}")
    if search.get("bm25_score") is not None:
        parts.append(f"text {abs(search['bm25_score']):.2f}")
    if search.get("similarity") is not None:
        parts.append(f"meaning {search['similarity']:.2f}")
    return " · ".join(parts)


def _marked(snippet: str, marks: list[list[int]]) -> str:
    """Return a snippet with what matched in bold."""
    shown: str = ""
    at = 0
    for start, end in marks:
        bold = click.style(render.piece(snippet[start:end]), bold=True)
        shown += render.piece(snippet[at:start]) + bold
        at = end
    return f"{shown}{render.piece(snippet[at:])}"


def _say_rest(result: dict[str, Any], shown: int) -> None:
    if result.get("nextCursor"):
        click.echo(
            f"{shown} of {result.get('total')}; more with --cursor {result['nextCursor']}", err=True
        )
