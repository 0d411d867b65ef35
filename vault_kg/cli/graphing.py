"""`graph`: the derived graph of code, documents and records; indexing it, and asking it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Session, Settings

LISTED = 30
"""Lines of a list that people are shown; `--json` has them all."""


@click.group()
@context.everywhere
@context.json_flag
def graph() -> None:
    """Index code and documents, and ask what depends on what.

    The graph follows the vault and the folders that it lists; it may be deleted at any time.
    """


@graph.command("index")
@click.argument("folder", metavar="[PATH]", type=click.Path(path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Read also what is unchanged.")
@context.everywhere
@context.json_flag
@click.pass_obj
def index_tree(settings: Settings, folder: Path | None, force: bool) -> None:
    """Bring the graph up to date: all roots, or one file or folder.

    A folder outside every root becomes one: it is listed in .vault-kg/vault.toml.
    """
    from vault_kg.cli import render

    with context.session(settings) as session, _reporting(session) as telling:
        result = telling.call("graph_index", **_asked(session, folder), force=force or None)
    if settings.json:
        render.print_json(result)
        return
    for each in result["data"]["reports"]:
        counts = {k: each[k] for k in ("read", "skipped", "failed", "removed") if each[k]}
        said = ", ".join(f"{count:,} {what}" for what, count in counts.items()) or "nothing there"
        click.echo(f"{render.line(each['root'])}: {said}")
    nodes = sum(result["data"]["counts"]["nodes"].values())
    edges = sum(result["data"]["counts"]["edges"].values())
    click.echo(f"{nodes:,} nodes, {edges:,} edges")


@graph.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@context.everywhere
@click.pass_obj
def hook(settings: Settings, paths: tuple[Path, ...]) -> None:
    """Note that files have changed, for an editor's or Git's hook; returns at once.

    They are indexed by the next `graph index`, or by the service that is running.
    """
    from vault_kg.cli import render
    from vault_kg.extract import queue

    root = context.find(settings)
    if root is None:
        raise context.no_vault(settings)
    queue.push(root / context.CONFIG.parent, paths)
    if settings.json:
        render.print_json({"queued": [str(path.absolute()) for path in paths]})


@graph.command()
@click.argument("name", metavar="UID|NAME")
@click.option("--root", metavar="NAME", help="Only this root.")
@context.everywhere
@context.json_flag
@click.pass_obj
def resolve(settings: Settings, name: str, root: str | None) -> None:
    """Find the uid of a symbol, file, heading or record."""
    data = _ask(settings, "graph_resolve", q=name, root=root)
    _print(settings, data, [_node(each) for each in data["data"]["results"]])


@graph.command()
@click.argument("name", metavar="UID|NAME")
@click.option("--direction", type=click.Choice(["downstream", "upstream", "both"]))
@click.option("--depth", type=click.IntRange(1, 10), help="How far (default: 3).")
@click.option("--confidence", "confidence_min", type=click.FloatRange(0, 1), help="Default: 0.3.")
@click.option("--root", metavar="NAME", help="Only this root.")
@context.everywhere
@context.json_flag
@click.pass_obj
def impact(settings: Settings, /, name: str, **asked: Any) -> None:
    """Show what a change of a symbol or file reaches."""
    from vault_kg.cli import render

    answer = _ask(settings, "graph_impact", uid=name, **asked)
    data = answer["data"]
    lines: list[list[str]] = []
    for tier in ("will_break", "should_review", "context"):
        for each in data[tier]["items"]:
            lines.append([
                tier.replace("_", " "), f"{each['confidence']:.1f}", *_node(each["node"]),
            ])  # fmt: skip
    _print(settings, answer, lines)
    if not settings.json and data["node"]:
        totals = ", ".join(f"{data[t]['total']:,} {t.replace('_', ' ')}"
                           for t in ("will_break", "should_review", "context"))  # fmt: skip
        click.echo(f"{render.line(data['node']['uid'])}: {totals}")


@graph.command()
@click.argument("name", metavar="UID|NAME")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only these kinds of edges.")
@click.option("--limit", type=click.IntRange(1, 10_000), help="Default: 100.")
@click.option("--root", metavar="NAME", help="Only this root.")
@context.everywhere
@context.json_flag
@click.pass_obj
def references(settings: Settings, /, name: str, kinds: tuple[str, ...], **asked: Any) -> None:
    """List everything that refers to a symbol, file, heading or record."""
    answer = _ask(settings, "graph_references", uid=name, kinds=list(kinds) or None, **asked)
    rows = [_edge(each, each["source"]) for each in answer["data"]["references"]]
    _print(settings, answer, rows, answer["data"]["total"])


@graph.command("path")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--max-hops", type=click.IntRange(1, 10), help="Default: 5.")
@context.everywhere
@context.json_flag
@click.pass_obj
def find_path(settings: Settings, source: str, target: str, max_hops: int | None) -> None:
    """Find a shortest way from one node to another."""
    answer = _ask(settings, "graph_path", source_uid=source, target_uid=target, max_hops=max_hops)
    data = answer["data"]
    _print(settings, answer, [_node(each) for each in data["path"]])
    if not settings.json and data["reason"]:
        click.echo(f"no path: {data['reason'].replace('_', ' ')}")


@graph.command("context")
@click.argument("name", metavar="UID|NAME")
@click.option("--depth", type=click.IntRange(1, 4), help="From 2 on: a summary.")
@click.option("--spine", "include_spine", is_flag=True, default=None, help="Also what contains it.")
@click.option("--root", metavar="NAME", help="Only this root.")
@context.everywhere
@context.json_flag
@click.pass_obj
def show_context(settings: Settings, /, name: str, **asked: Any) -> None:
    """Show what a node calls, who calls it, and what touches it."""
    answer = _ask(settings, "graph_context", uid=name, **asked)
    rows = []
    for group in answer["data"]["groups"]:
        far = "target" if group["direction"] == "out" else "source"
        rows += [[group["direction"], *_edge(each, each[far])] for each in group["edges"]]
    _print(settings, answer, rows, answer["data"]["total"])


@graph.command()
@click.option("--fix", is_flag=True, default=None, help="Repair what can be derived again.")
@context.everywhere
@context.json_flag
@click.pass_obj
def doctor(settings: Settings, fix: bool | None) -> None:
    """Check the graph; exit 1 where something is wrong."""
    from vault_kg.cli import render

    answer = _ask(settings, "graph_doctor", fix=fix)
    data = answer["data"]
    if settings.json:
        render.print_json(answer)
    else:
        for issue in data["issues"]:
            known = "" if not issue["informational"] else " (for information)"
            click.echo(f"{issue['count']:,} {issue['category'].replace('_', ' ')}{known}")
            render.echo_lines(f"  {render.line(each)}" for each in issue["sample"])
        click.echo("healthy" if data["healthy"] else f"{data['issue_count']:,} issues")
    if not data["healthy"]:
        click.get_current_context().exit(1)


@graph.command()
@click.option("--format", "form", type=click.Choice(["json", "mermaid", "dot"]), default="mermaid")
@click.option("--from", "root_uid", metavar="UID|NAME", help="Only what is around this.")
@click.option("--mode", type=click.Choice(["auto", "containment", "dependencies", "processes"]))
@click.option("--max-nodes", type=click.IntRange(1, 5_000), help="Default: 500.")
@context.everywhere
@context.json_flag
@click.pass_obj
def export(settings: Settings, /, form: str, **asked: Any) -> None:
    """Print the graph, or a part of it, as JSON, Mermaid or DOT."""
    from vault_kg.cli import render

    answer = _ask(settings, "graph_export", format=form, **asked)
    if settings.json or form == "json":
        render.print_json(answer)
        return
    click.echo(render.text(answer["data"]["text"]), nl=False)


def _ask(settings: Settings, name: str, **arguments: Any) -> dict[str, Any]:
    with context.session(settings) as session:
        return session.call(name, **arguments)


def _asked(session: Session, folder: Path | None) -> dict[str, Any]:
    """Return which root, and what of it, a path means; a folder outside all roots becomes one."""
    from vault_kg.extract import roots

    if folder is None:
        return {}
    vault = session.workspace.vault.root
    held = roots.around(vault, folder)
    if held is None:
        return {"root": roots.add(vault, folder).name}
    root, relative = held
    return {"root": root.name} | ({"paths": [relative]} if relative else {})


@contextmanager
def _reporting(session: Session) -> Iterator[Session]:
    """Tell the progress of calls on a terminal."""
    from vault_kg.cli import progress

    with progress.stages() as advance:
        caller = replace(
            session.caller, report=lambda done, total, what: advance(what, done, total)
        )
        yield replace(session, caller=caller)


def _node(node: dict[str, Any]) -> list[str]:
    place = node["path"] or ""
    if node["start_line"]:
        place += f":{node['start_line']}"
    return [node["uid"], place]


def _edge(edge: dict[str, Any], far: str) -> list[str]:
    return [
        edge["kind"],
        f"{edge['confidence']:.1f}",
        far,
        f"line {edge['line']}" if edge["line"] else "",
    ]


def _print(
    settings: Settings, answer: dict[str, Any], rows: list[list[str]], total: int | None = None
) -> None:
    """Print an answer as JSON, or its lines with what people must know of it."""
    from vault_kg.cli import render

    if settings.json:
        render.print_json(answer)
        return
    clean = [[render.line(cell) for cell in row] for row in rows]
    if clean:
        render.echo_lines(render.table(clean[:LISTED], flexible=len(clean[0]) - 2))
    meta, whole = answer["data"]["meta"], max(total or 0, len(rows))
    if whole > len(clean[:LISTED]):
        click.echo(f"{len(clean[:LISTED]):,} of {whole:,}; --json has more", err=True)
    if meta["hint"]:
        click.echo(render.line(meta["hint"]), err=True)
    if meta["freshness"]["state"] in ("stale", "gone"):
        click.echo(f"{render.line(meta['freshness']['path'])} has changed: vault-kg graph index",
                   err=True)  # fmt: skip
