#!/usr/bin/env python3
"""Draw the pictures of the review UI in docs/images/, from the UI itself on the sample vault.

Run it with `python scripts/screenshots.py`; it needs no terminal.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = (110, 30)
PATIENCE = 20.0

os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
sys.path.insert(0, str(ROOT))

ADA, BIRTH = "pg_01kgvtdfemva3knnm8pqg6zpzx", "cl_01khzyv3ay3vdafkv17q3qsczb"

Step = Callable[[Any, Any], Awaitable[None]]


def main() -> None:
    """Draw every picture."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "babbage"
        prepare(root)
        asyncio.run(draw(root))


def prepare(root: Path) -> None:
    """Make a copy of the sample vault in which somebody has been at work."""
    from vault_kg.operations import registry
    from vault_kg.operations.caller import Caller
    from vault_kg.operations.workspace import Workspace

    shutil.copytree(ROOT / "sample_vault", root)
    workspace = Workspace.create(root)
    workspace.scan()
    agent = Caller("agent:librarian")
    for number, (words, new) in enumerate(
        [
            ("English mathematician", "Mathematician and writer"),
            ("Mathematician and writer", "English mathematician and writer"),
        ]
    ):
        view = registry.call(workspace, "knowledge_get", {"id": ADA}, agent)
        registry.call(
            workspace,
            "knowledge_save_page",
            {
                "requestId": f"picture-{number}", "id": ADA,
                "expectedRevision": view["revision"], "expectedHash": view["hash"],
                "summary": view["summary"].replace(words, new),
            },
            agent,
        )  # fmt: skip
    workspace.close()


async def draw(root: Path) -> None:
    """Go through the UI and save what is seen."""
    from tui.app import ReviewApp
    from tui.desk import Desk
    from tui.opening import ToRecord, open_value

    app = ReviewApp(Desk(root, actor="keeper"))
    async with app.run_test(size=SIZE) as pilot:

        async def picture(name: str, *expected: str) -> None:
            deadline = time.monotonic() + PATIENCE
            while not all(part in seen(app) for part in expected):
                if time.monotonic() > deadline:
                    sys.exit(f"{name}: {expected} never came:\n{seen(app)}")
                await pilot.pause(0.05)
            await pilot.pause(0.3)
            app.save_screenshot(f"review-{name}.svg", str(IMAGES))
            print(f"docs/images/review-{name}.svg")

        await picture("recent", "may be one", "saved page", "in Git")
        open_value(app, ToRecord(ADA))
        await picture("record", "mathematician and writer", "Augusta Ada Byron")
        open_value(app, ToRecord(ADA, "history"))
        await picture("history", "revision 3", "+ revision: 3")
        open_value(app, ToRecord(BIRTH, "evidence"))
        await picture("evidence", "source verified")
        await pilot.press("2")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await picture("candidate", "May these be one thing?", "Augusta")
        await pilot.press("3", *"engine")
        await picture("search", "hits", "words: engine")


def seen(app: Any) -> str:
    """Return what is on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


if __name__ == "__main__":
    main()
