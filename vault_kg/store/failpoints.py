"""Named points of the write path at which a test can end the process, as a power cut would.

`VAULT_KG_FAILPOINT=name` exits hard when that point is reached; `name:3` at the third time;
`name=pause:FILE` waits there until FILE exists, so that a test can act as an editor meanwhile.
Nothing is armed in ordinary use, and an unarmed point costs one dictionary look-up.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

ENVIRONMENT = "VAULT_KG_FAILPOINT"
EXIT_CODE = 77

POINTS = (
    "lane.held",
    "accept.before",
    "accept.after",
    "install.temp-written",
    "install.moved-aside",
    "install.exchanged",
    "install.file-done",
    "install.all-done",
    "install.taken-back",
    "publish.before",
    "publish.inside",
    "publish.after",
    "git.before",
    "git.committed",
    "git.after",
    "conflict.rolled-back",
    "conflict.recorded",
)

_reached: dict[str, int] = {}


def reach(name: str) -> None:
    """End or pause the process here if this point is armed."""
    armed = os.environ.get(ENVIRONMENT)
    if armed:
        _act(name, armed)


def _act(name: str, armed: str) -> None:
    spec, _, pause = armed.partition("=pause:")
    wanted, _, nth = spec.partition(":")
    if wanted != name:
        return
    _reached[name] = _reached.get(name, 0) + 1
    if _reached[name] != int(nth or 1):
        return
    if not pause:
        os._exit(EXIT_CODE)
    Path(pause + ".reached").touch()
    while not Path(pause).exists():
        time.sleep(0.005)
