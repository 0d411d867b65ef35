"""How a widget reads: the question runs in a thread, the answer comes back on the event loop.

A newer question of the same group replaces an older one, whose answer is then dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from textual.app import ScreenStackError
from textual.dom import DOMNode, NoScreen
from textual.worker import Worker

from tui.desk import Desk
from tui.plain import block
from vault_kg.errors import Unavailable, VaultError

if TYPE_CHECKING:
    from tui.app import ReviewApp

T = TypeVar("T")

READS = frozenset({"read", "count", "names", "file", "head"})
"""The groups of questions by which what is shown is read again."""


def desk_of(node: DOMNode) -> Desk:
    """Return the vault that the app shows."""
    return cast("ReviewApp", node.app).desk


def ask(
    node: DOMNode,
    question: Callable[[Desk], T],
    then: Callable[[T], None],
    *,
    group: str = "read",
    otherwise: Callable[[VaultError], None] | None = None,
) -> None:
    """Put a question to the vault.

    Args:
        node: who asks; its end ends the question.
        question: what is asked; runs in a thread.
        then: takes the answer, on the event loop.
        group: a later question of the same node and group replaces this one.
        otherwise: takes a refusal; without it a notice says what was refused.
    """

    async def run() -> None:
        try:
            answer = await desk_of(node).ask(question)
        except VaultError as error:
            _turn_down(node, error, otherwise)
            return
        except Exception as error:  # noqa: BLE001 - a read that fails closes no UI; it is told
            said = f"{type(error).__name__}: {error}; press F5 to read again"
            _turn_down(node, Unavailable(f"what was asked cannot be read: {said}"), otherwise)
            return
        if _is_there(node):
            then(answer)

    _: Worker[None] = node.run_worker(run, group=group, exclusive=True, exit_on_error=True)


def _turn_down(
    node: DOMNode, error: VaultError, otherwise: Callable[[VaultError], None] | None
) -> None:
    if not _is_there(node):
        return
    if otherwise is not None:
        otherwise(error)
    else:
        refuse(node, error)


def _is_there(node: DOMNode) -> bool:
    """Say whether a node can still take an answer: neither its screen nor the app was closed."""
    try:
        is_shown = node.is_attached and node.screen in node.app.screen_stack
        return is_shown and node.app.is_running
    except (NoScreen, ScreenStackError):
        return False


def refuse(node: DOMNode, error: VaultError) -> None:
    """Say what was refused, and why."""
    node.app.notify(
        block(error.message, 1_000), title=error.code, severity="error", markup=False, timeout=8
    )


def tell(node: DOMNode, message: str, title: str = "") -> None:
    """Say what was done."""
    node.app.notify(block(message, 1_000), title=title, markup=False)
