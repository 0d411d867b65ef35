"""Whether a chore or a pass may be dispatched now: each refusal says which gate is shut, and why.

The pace rule funds passes out of what a week leaves over: at a pace of 1 or less, the allowance is on
course to expire unspent. Gates and numbers are those of the knowledge-graph plugin.

    pace = seven_day_pct / (100 x fraction of the seven days elapsed)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from vault_kg.maintain.chores.settings import Settings
from vault_kg.state.chores import RUNNING, Dispatch

GAUGE_MINUTES: Final = 90
CHORE_FIVE_HOURS, CHORE_SEVEN_DAYS = 55.0, 80.0
PASS_FIVE_HOURS, PASS_SEVEN_DAYS = 40.0, 70.0
"""Percent of an allowance from which on a chore or a pass waits."""

OFF: Final = "chores and passes are off; set chores = true in the table [maintenance] of vault.toml"
MAX_PACE: Final = 1.0
WEEK: Final = timedelta(days=7)


@dataclass(frozen=True)
class Gauge:
    """How much of an agent's allowance is spent."""

    at: datetime
    five_hour_pct: float
    seven_day_pct: float
    resets_at: datetime
    """When the seven days end."""


@dataclass(frozen=True)
class Situation:
    """What the gates look at."""

    now: datetime
    settings: Settings
    history: list[Dispatch]
    """Dispatches of all levels that were not refused, newest first, of the last day at least."""
    gauge: Gauge | None


def read_gauge(path: str) -> Gauge | None:
    """Read a gauge: a JSON object of the fields of `Gauge`, times in RFC 3339; None if it is none."""
    try:
        said = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        return Gauge(
            datetime.fromisoformat(said["at"]), float(said["five_hour_pct"]),
            float(said["seven_day_pct"]), datetime.fromisoformat(said["resets_at"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def pace(gauge: Gauge, now: datetime) -> float:
    """Return how fast the week's allowance is spent; above 1 it will not last."""
    left = (gauge.resets_at - now) / WEEK
    elapsed = min(1.0, max(1 / 168, 1.0 - left))  # never less than an hour
    return gauge.seven_day_pct / (100.0 * elapsed)


def under_way(seen: Situation) -> str | None:
    """Return why nothing may be dispatched beside what runs, whoever asks."""
    running = next((d for d in seen.history if d.state == RUNNING), None)
    return None if running is None else f"one is running since {running.at}"


def against_chore(seen: Situation, partition: str, debt: float) -> str | None:
    """Return why no chore may be dispatched for a level now."""
    refused = _against_any(seen)
    if refused is not None:
        return refused
    rules = seen.settings
    chores = [d for d in seen.history if d.kind != "pass"]
    if chores and _since(seen, chores[0]) < timedelta(minutes=rules.minutes_between):
        return f"the last one was less than {rules.minutes_between:g} minutes ago"
    own = [d for d in chores if d.partition == partition]
    if own and _since(seen, own[0]) < timedelta(hours=rules.hours_between):
        return f"the last one of {partition} was less than {rules.hours_between:g} hours ago"
    today = [d for d in chores if d.at[:10] == f"{seen.now:%Y-%m-%d}"]
    if len(today) >= rules.chores_a_day:
        return f"{rules.chores_a_day} were dispatched today"
    if debt < rules.least_debt:
        return f"the debt of {partition} ({debt:.2f}) is below {rules.least_debt:g}"
    return _against_quota(seen, CHORE_FIVE_HOURS, CHORE_SEVEN_DAYS)


def against_pass(
    seen: Situation, partition: str, days_untended: float | None, nodes: int, days_active: int
) -> str | None:
    """Return why no full pass of a level is due, or may be dispatched now.

    Args:
        seen: what the gates look at.
        partition: the level.
        days_untended: since the last stamp; None where there never was one.
        nodes: pages in view.
        days_active: of the last seven.
    """
    refused = _against_any(seen)
    if refused is not None:
        return refused
    rules = seen.settings
    if days_untended is not None and days_untended < rules.pass_days:
        return f"the last pass of {partition} was {int(days_untended)} days ago; due at {rules.pass_days:g}"
    if nodes < rules.pass_nodes:
        return f"{partition} has {nodes} pages in view; {rules.pass_nodes} make a pass worth while"
    if not days_active:
        return f"{partition} was not used in the last seven days"
    passes = [d for d in seen.history if d.kind == "pass"]
    if any(d.at[:10] == f"{seen.now:%Y-%m-%d}" for d in passes):
        return "a pass was dispatched today"
    refused = _against_quota(seen, PASS_FIVE_HOURS, PASS_SEVEN_DAYS)
    if refused is None and seen.gauge is not None and pace(seen.gauge, seen.now) > MAX_PACE:
        return (
            f"the week's allowance is spent at a pace of {pace(seen.gauge, seen.now):.2f}, above 1"
        )
    return refused


def _against_any(seen: Situation) -> str | None:
    """Return why neither a chore nor a pass may be dispatched now."""
    if not seen.settings.chores:
        return OFF
    return under_way(seen)


def _against_quota(seen: Situation, five_hours: float, seven_days: float) -> str | None:
    """Return why an allowance forbids it; without a gauge in the settings there is none to mind."""
    if seen.settings.gauge is None:
        return None
    gauge = seen.gauge
    if gauge is None:
        return f"the gauge {seen.settings.gauge} cannot be read"
    if seen.now - gauge.at > timedelta(minutes=GAUGE_MINUTES):
        return f"the gauge is older than {GAUGE_MINUTES} minutes"
    if gauge.five_hour_pct >= five_hours:
        return f"{gauge.five_hour_pct:g} % of the five hours are spent; below {five_hours:g} wanted"
    if gauge.seven_day_pct >= seven_days:
        return f"{gauge.seven_day_pct:g} % of the week are spent; below {seven_days:g} wanted"
    return None


def _since(seen: Situation, dispatch: Dispatch) -> timedelta:
    return seen.now - datetime.fromisoformat(dispatch.at)
