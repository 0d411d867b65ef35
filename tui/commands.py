"""The command palette: every key of where you are, every place, and records by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from textual import actions
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui import keys
from tui.asking import desk_of
from tui.opening import ToRecord, open_value
from tui.plain import line
from vault_kg.errors import VaultError

_SKIPPED = frozenset({"command_palette", *(k.action for k in keys.KEYS["list"])})
MOST_RECORDS = 8


class Commands(Provider):
    """What the keys do, as commands."""

    def _all(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        """Yield what can be done here, then what can be done everywhere."""
        seen = set(_SKIPPED)
        for node, binding, enabled, _ in self.screen.active_bindings.values():
            mine = node is not self.app and not binding.system and binding.tooltip
            if mine and enabled and binding.action not in seen:
                seen.add(binding.action)
                run = partial(self.app.run_action, binding.action, node)
                yield binding.tooltip, keys.shown(binding.key), run
        for key in keys.KEYS["everywhere"]:
            if key.action not in _SKIPPED:
                _, name, parameters = actions.parse(key.action)
                run = partial(getattr(self.app, f"action_{name}"), *parameters)
                yield key.help, keys.shown(key.key), run

    async def discover(self) -> Hits:
        """Offer everything that can be done here."""
        for name, key, run in self._all():
            yield DiscoveryHit(name, run, help=f"key {key}".replace("[", "\\["))

    async def search(self, query: str) -> Hits:
        """Offer what fits the words."""
        matcher = self.matcher(query)
        for name, key, run in self._all():
            if (score := matcher.match(name)) > 0:
                help_text = f"key {key}".replace("[", "\\[")
                yield Hit(score, matcher.highlight(name), run, text=name, help=help_text)


class Records(Provider):
    """Records whose name or words fit."""

    async def search(self, query: str) -> Hits:
        """Offer the records found."""
        try:
            found = await desk_of(self.screen).ask(
                lambda d: d.call(
                    "knowledge_search", query=query, asTyped=True, mode="text", limit=MOST_RECORDS
                )["hits"]
            )
        except VaultError:
            return
        for n, hit in enumerate(found):
            title = line(hit["title"], 80)
            shown = cast(str, Content(f"{title}  ({hit['kind']} {line(hit['type'] or '', 30)})"))
            opened = partial(open_value, self.screen, ToRecord(hit["id"]))
            yield Hit(0.5 - n / 100, shown, opened, text=title)
