"""How much care each graph is owed: `maintain status`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings

_COLOURS = {"HIGH": "red", "MED": "yellow", "LOW": "green"}
_FACTORS = {
    "oversized": "oversized gists", "long_ids": "long or dated ids", "unconnected": "in no edge",
    "dangling": "touches that lead nowhere", "lift": "episodes that share a lesson",
    "smeared": "terms described again and again",
}  # fmt: skip


@click.group()
@context.everywhere
@context.json_flag
def maintain() -> None:
    """Look at what the graphs are owed.

    Agents do the work through the kg_* tools: `vault-kg mcp --toolset maintain`.
    """


@context.command
@click.option("--partition", metavar="NAME", help="Only this graph.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=10, show_default=True,
    help="So many pages of each factor.",
)  # fmt: skip
def status(settings: Settings, **asked: Any) -> None:
    """Say how every graph is, with the pages behind its debt.

    The one that is owed most comes first.
    """
    from vault_kg.cli import render

    with context.session(settings, make=True) as session:
        result = session.call("maintain_status", targets=True, **asked)
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(_lines(result))


maintain.add_command(status, "status")


def _lines(result: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    if not result["graphs"]:
        yield "There are no graphs yet."
    for graph in result["graphs"]:
        yield render.heading(render.line(graph["partition"]))
        yield f"  {render.line(graph['health_line'])}"
        debt = render.line(graph["debt_line"])
        yield "  " + debt.replace(
            graph["verdict"], click.style(graph["verdict"], fg=_COLOURS[graph["verdict"]]), 1
        )
        for factor in graph["factors"]:
            yield from _factor_lines(factor)


def _factor_lines(factor: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    yield f"  {_FACTORS[factor['factor']]} ({factor['total']})"
    rows = [
        [f"    {render.line(page['id'])}", render.line(page["what"])] for page in factor["pages"]
    ]
    yield from render.table(rows, flexible=1)
    left = factor["total"] - len(factor["pages"])
    if left > 0:
        yield render.dim(f"    … and {left} more; --limit shows them")
