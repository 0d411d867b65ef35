"""What `--as-of` takes."""

from __future__ import annotations

import click
import pytest

from vault_kg.cli.moments import Moment


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2024-05-01", {"time": "2024-05-01"}),
        ("2024-05-01T10:00:00Z", {"time": "2024-05-01T10:00:00Z"}),
        ("12", {"revision": 12}),
        ("revision:12", {"revision": 12}),
        ("HEAD~1", {"commit": "HEAD~1"}),
        ("commit:12", {"commit": "12"}),
        ("a507f3da52", {"commit": "a507f3da52"}),
    ],
)
def test_a_moment_is_a_time_a_revision_or_a_commit(said: str, meant: dict[str, object]) -> None:
    assert Moment().convert(said, None, None) == meant


def test_nothing_is_no_moment() -> None:
    with pytest.raises(click.BadParameter):
        Moment().convert("commit:", None, None)
