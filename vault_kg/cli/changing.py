"""Changes of one record's standing: `withdraw`, `restore`, `resume`."""

from __future__ import annotations

import click

from vault_kg.cli import context, inspecting, receipts
from vault_kg.cli.context import Settings


@context.command
@click.argument("name", metavar="ID|NAME")
@receipts.reason
@receipts.yes
@receipts.request_id
def withdraw(settings: Settings, name: str, reason: str, yes: bool, request_id: str | None) -> None:
    """Retract a record for good.

    It and what stands on it leave default reads. Nothing is deleted and nothing else is changed.
    There is no way back but a new record. To replace a wrong claim or relationship use `correct`.
    """
    from vault_kg.cli import render

    with context.session(settings) as session:
        if receipts.repeated(session, request_id):
            return
        view = session.call("knowledge_get", id=session.resolve(name), followMerges=False)
        if not yes:
            label = render.line(f"{view['type'] or view['kind']}  {view['title']}  {view['id']}")
            click.echo(render.heading(label), err=True)
            result = session.call("knowledge_impact", id=view["id"], operation="withdraw")
            click.echo("\n".join(inspecting.impact_lines(result)), err=True)
        receipts.stop_unless(receipts.agreed("Withdraw it for good?", yes))
        receipt = session.change(
            "knowledge_withdraw", request_id, id=view["id"], expectedRevision=view["revision"],
            expectedHash=view["hash"], reason=reason,
        )  # fmt: skip
    receipts.tell(settings, receipt)


@context.command
@click.argument("record_id", metavar="ID")
@receipts.request_id
def restore(settings: Settings, record_id: str, request_id: str | None) -> None:
    """Bring a deleted record's file back.

    It gets the last bytes that it had.
    """
    with context.session(settings) as session:
        receipt = session.change("knowledge_restore", request_id, id=record_id)
    receipts.tell(settings, receipt)


@context.command
@click.argument("request", metavar="REQUEST_ID")
def resume(settings: Settings, request: str) -> None:
    """Finish an accepted request.

    After a crash or a lost answer; its Git commit is tried again too.
    """
    from vault_kg.cli import render

    with context.session(settings, look=False) as session:
        result = session.call("knowledge_resume", requestId=request)
    if settings.json:
        render.print_json(result)
        return
    click.echo(f"the request is {result['state']}")
    if result["receipt"]:
        receipts.tell(settings, result["receipt"])
    for conflict in result["conflicts"] or ():
        click.echo(f"  vault-kg review {conflict}")
