"""When a chore or a pass may go out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_kg.maintain.chores import gates
from vault_kg.maintain.chores.gates import Gauge, Situation
from vault_kg.maintain.chores.settings import Settings
from vault_kg.state.chores import Dispatch

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
ON = Settings(chores=True)


def ago(**passed: float) -> str:
    return f"{NOW - timedelta(**passed):%Y-%m-%dT%H:%M:%SZ}"


def sent(at: str, partition: str = "user", kind: str = "gist", state: str = "done") -> Dispatch:
    return Dispatch(1, partition, kind, (), "agent", state, "", at)


def gauge(five: float = 10, seven: float = 10, age: float = 5, left: float = 3.5) -> Gauge:
    return Gauge(NOW - timedelta(minutes=age), five, seven, NOW + timedelta(days=left))


def situation(*history: Dispatch, rules: Settings = ON, seen: Gauge | None = None) -> Situation:
    return Situation(NOW, rules, list(history), seen)


def chore(seen: Situation, debt: float = 0.5) -> str:
    return gates.against_chore(seen, "user", debt) or ""


def test_off_by_default() -> None:
    assert "off" in chore(situation(rules=Settings()))
    assert chore(situation()) == ""


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ([sent(ago(hours=7), state="running")], "running"),
        ([sent(ago(minutes=44), "other")], "45 minutes"),
        ([sent(ago(minutes=46), "other")], ""),
        ([sent(ago(hours=5.9))], "6 hours"),
        ([sent(ago(hours=6.1))], ""),
        ([sent(ago(hours=1), "other")] * 8, "8 were dispatched today"),
        ([sent(ago(hours=1), "other")] * 7, ""),
        ([sent(ago(hours=13), "other")] * 8, ""),
        ([sent(ago(minutes=5), kind="pass")], ""),
    ],
)
def test_pace_of_chores(history: list[Dispatch], said: str) -> None:
    found = chore(situation(*history))
    assert said in found and bool(said) == bool(found)


@pytest.mark.parametrize(("debt", "open_"), [(0.119, False), (0.12, True)])
def test_a_graph_that_is_owed_little_waits(debt: float, open_: bool) -> None:
    assert (chore(situation(), debt) == "") == open_


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (None, "cannot be read"),
        (gauge(age=91), "older than 90"),
        (gauge(five=55), "five hours"),
        (gauge(seven=80), "week"),
        (gauge(five=54.9, seven=79.9, age=89), ""),
    ],
)
def test_an_allowance_is_minded_where_there_is_a_gauge(seen: Gauge | None, said: str) -> None:
    minding = replace(situation(seen=seen), settings=ON.model_copy(update={"gauge": "quota.json"}))
    found = chore(minding)
    assert said in found and bool(said) == bool(found)
    assert chore(situation(seen=seen)) == ""


@pytest.mark.parametrize(
    ("days", "nodes", "active", "said"),
    [
        (20.9, 8, 1, "20 days ago"),
        (21.0, 8, 1, ""),
        (None, 8, 1, ""),
        (None, 7, 1, "7 pages"),
        (30, 50, 0, "not used"),
    ],
)
def test_a_pass_is_due_by_time(days: float | None, nodes: int, active: int, said: str) -> None:
    found = gates.against_pass(situation(), "user", days, nodes, active) or ""
    assert said in found
    assert bool(said) == bool(found)


def test_one_pass_a_day() -> None:
    today, yesterday = sent(ago(hours=3), kind="pass"), sent(ago(hours=13), kind="pass")
    assert "today" in (gates.against_pass(situation(today), "user", None, 9, 1) or "")
    assert gates.against_pass(situation(yesterday), "user", None, 9, 1) is None


@pytest.mark.parametrize(
    ("five", "seven", "left", "said"),
    [
        (39, 49, 3.5, ""),  # half of the week, half of the allowance: a pace of just under 1
        (39, 51, 3.5, "pace of 1.02"),
        (40, 10, 3.5, "five hours"),
        (10, 70, 0.5, "week"),  # the line alone would let it pass: 0.75
        (10, 69, 0.5, ""),
        (10, 5, 6.9, "pace"),
    ],
)
def test_a_pass_is_paid_for_by_what_a_week_leaves_over(
    five: float, seven: float, left: float, said: str
) -> None:
    minding = ON.model_copy(update={"gauge": "quota.json"})
    seen = situation(rules=minding, seen=gauge(five, seven, left=left))
    found = gates.against_pass(seen, "user", None, 9, 1) or ""
    assert said in found and bool(said) == bool(found)


def test_a_gauge_is_read_or_is_none(tmp_path: Path) -> None:
    place = tmp_path / "quota.json"
    said = {"at": "2026-03-04T12:00:00Z", "five_hour_pct": 1, "seven_day_pct": 2.5,
            "resets_at": "2026-03-07T00:00:00Z"}  # fmt: skip
    place.write_text(json.dumps(said))
    assert gates.read_gauge(str(place)) == Gauge(NOW, 1.0, 2.5, datetime(2026, 3, 7, tzinfo=UTC))
    for broken in (
        "",
        "[]",
        "{",
        json.dumps(said | {"at": "soon"}),
        json.dumps({"at": said["at"]}),
    ):
        place.write_text(broken)
        assert gates.read_gauge(str(place)) is None
    assert gates.read_gauge(str(tmp_path / "none")) is None
