"""`graph`: the derived graph of code, documents and records; indexing it, and asking it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context, folders, graph_found
from vault_kg.cli.context import Session, Settings

DONE = ("read", "skipped", "failed", "removed")
TIERS = ("will_break", "should_review", "context")


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
    done: dict[str, Counter[str]] = defaultdict(Counter)
    for each in result["data"]["reports"]:
        done[each["root"]].update({what: each[what] for what in DONE})
    for root, counted in done.items():
        said = ", ".join(f"{counted[what]:,} {what}" for what in DONE if counted[what])
        click.echo(f"{render.line(root)}: {said or 'nothing there'}")
    counts = result["data"]["counts"]
    totals = {"node": sum(counts["nodes"].values()), "edge": sum(counts["edges"].values())}
    click.echo(render.counted(totals))


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

    root = folders.find(settings)
    if root is None:
        raise folders.no_vault(settings)
    queue.push(root / folders.CONFIG.parent, paths)
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
    answer = _ask(settings, "graph_resolve", q=name, root=root)
    data = answer["data"]
    rows = [graph_found.node(each) for each in data["results"]]
    nothing = f"Nothing is called {name!r}; vault-kg graph index takes in what is new."
    graph_found.show(settings, answer, rows, uid=0, total=data["total"], nothing=nothing)


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
    if data["node"] is None:
        graph_found.check_found(answer, name)
    rows = [
        [tier.replace("_", " "), f"{each['confidence']:.1f}", *graph_found.node(each["node"])]
        for tier in TIERS
        for each in data[tier]["items"]
    ]
    graph_found.show(settings, answer, rows, uid=2, total=data["total"])
    if not settings.json:
        totals = ", ".join(f"{data[tier]['total']:,} {tier.replace('_', ' ')}" for tier in TIERS)
        more = "; the walk was cut, --depth shortens it" if data["walk_truncated"] else ""
        click.echo(f"{render.line(data['node']['uid'])}: {totals}{more}")


@graph.command()
@click.argument("name", metavar="UID|NAME")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only these kinds of edges.")
@click.option("--limit", type=click.IntRange(1, 10_000), help="Default: 100.")
@click.option("--root", metavar="NAME", help="Only this root.")
@context.everywhere
@context.json_flag
@click.pass_obj
def references(
    settings: Settings, /, name: str, kinds: tuple[str, ...], limit: int | None, **asked: Any
) -> None:
    """List everything that refers to a symbol, file, heading or record."""
    from vault_kg.cli import render

    chosen = list(kinds) or None
    answer = _ask(settings, "graph_references", uid=name, kinds=chosen, limit=limit, **asked)
    data = answer["data"]
    if data["node"] is None:
        graph_found.check_found(answer, name)
    titles = graph_found.titles(data["sources"])
    rows = [
        graph_found.edge(each, each["source"], titles.get(each["source"]))
        for each in data["references"]
    ]
    nothing = f"Nothing refers to {data['node']['uid']}."
    if data["zero_from_kind_filter"]:
        there = ", ".join(f"{n:,} {kind}" for kind, n in data["edge_kinds_present"].items())
        nothing = f"None is of kind {render.listed(kinds)}; there are {there}."
    graph_found.show(
        settings, answer, rows, uid=2, total=data["total"], most=limit, nothing=nothing
    )


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
    if data["reason"] == "unknown_end":
        missing = source if repr(source) in str(data["meta"]["hint"]) else target
        graph_found.check_found(answer, missing)
    rows = [
        [_crossed(edge), f"{edge['confidence']:.1f}" if edge else "", *graph_found.node(node)]
        for edge, node in zip([None, *data["edges"]], data["path"], strict=False)
    ]
    why = {
        "exhausted_budget": "none was found through the most connected nodes, or within the hops"
    }
    nothing = f"No path: {why.get(data['reason'], 'nothing leads from one to the other')}."
    graph_found.show(settings, answer, rows, uid=2, nothing=nothing)


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
    data = answer["data"]
    if data["node"] is None:
        graph_found.check_found(answer, name)
    rows = []
    for group in data["groups"]:
        far = "target" if group["direction"] == "out" else "source"
        rows += [
            [group["direction"], *graph_found.edge(each, each[far])] for each in group["edges"]
        ]
    rows += [["near", "", "", *graph_found.node(each)] for each in data["nearby"]]
    total = data["total"] + data["nearby_total"]
    nothing = f"No edge leads to or from {data['node']['uid']}."
    graph_found.show(settings, answer, rows, uid=3, total=total, nothing=nothing)


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
        issues = render.counted({"issue": data["issue_count"]})
        click.echo("healthy" if data["healthy"] else issues)
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
    if asked["root_uid"] is not None and not answer["data"]["node_count"]:
        graph_found.check_found(answer, asked["root_uid"])
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


def _crossed(edge: dict[str, Any] | None) -> str:
    """Return the kind of an edge of a path, with the way in which it is crossed."""
    if edge is None:
        return ""
    forward = edge["traversal_direction"] == "forward"
    return f"{edge['kind']} →" if forward else f"← {edge['kind']}"
