"""`graph`: the derived graph of code, documents and records; indexing it, and asking it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context, folders, graph_found, graph_indexing
from vault_kg.cli.context import Settings

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

    with context.session(settings) as session, graph_indexing.reporting(session) as telling:
        asked = graph_indexing.asked(session, folder)
        result = telling.call("graph_index", **asked, force=force or None)
    if settings.json:
        render.print_json(result)
        return
    graph_indexing.show(result, folder)


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
@click.option("--limit", type=click.IntRange(1, 500), help="Default: 30.")
@click.option("--root", metavar="NAME", help="Only this root.")
@context.everywhere
@context.json_flag
@click.pass_obj
def resolve(settings: Settings, name: str, limit: int | None, root: str | None) -> None:
    """Find the uid of a symbol, file, heading or record by its name, its path or words."""
    most = limit or graph_found.LISTED
    answer = _ask(settings, "graph_resolve", q=name, root=root, top=most)
    data = answer["data"]
    rows = [graph_found.node(each) for each in data["results"]]
    nothing = data["meta"]["hint"] or f"nothing is called {name!r}"
    if data["meta"]["freshness"]["state"] != "empty":
        nothing += "; `vault-kg graph index` takes in what is new"
    graph_found.show(
        settings, answer, rows, uid=0, total=data["total"], most=most,
        nothing=nothing[:1].upper() + nothing[1:] + ".",
    )  # fmt: skip


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
            [group["direction"], *graph_found.edge(each, each[far], data["titles"].get(each[far]))]
            for each in group["edges"]
        ]
    rows += [["near", "", "", *graph_found.node(each)] for each in data["nearby"]]
    total = data["total"] + data["nearby_total"]
    nothing = f"No edge leads to or from {data['node']['uid']}"
    nothing += "." if asked["include_spine"] else " but those of what contains it: --spine."
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
        empty = data["meta"]["freshness"]["state"] == "empty"
        healthy = "nothing is indexed yet: run `vault-kg graph index`" if empty else "healthy"
        click.echo(healthy if data["healthy"] else issues)
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
    data = answer["data"]
    if not data["node_count"] and not data["meta"]["hint"]:
        click.echo("No node of the graph has an edge of that kind.", err=True)
    elif data["node_total"] > data["node_count"]:
        shown = f"{data['node_count']:,} of {data['node_total']:,} nodes are shown"
        click.echo(f"{shown}; --max-nodes shows more, --from what is around one", err=True)
    if data["meta"]["hint"]:
        click.echo(render.line(data["meta"]["hint"]), err=True)


def _ask(settings: Settings, name: str, **arguments: Any) -> dict[str, Any]:
    with context.session(settings) as session:
        return session.call(name, **arguments)


def _crossed(edge: dict[str, Any] | None) -> str:
    """Return the kind of an edge of a path, with the way in which it is crossed."""
    if edge is None:
        return ""
    forward = edge["traversal_direction"] == "forward"
    return f"{edge['kind']} →" if forward else f"← {edge['kind']}"
