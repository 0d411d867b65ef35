"""A page in headless Chromium, driven over its debugging protocol: keys in, what was drawn out."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-port=0", "--window-size=1000,700",
)  # fmt: skip
PATIENCE = 60.0
_ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07]*\x07|\x1b.")


class Page:
    """A page: what its terminal was sent, and the requests that it made."""

    def __init__(self, session: aiohttp.ClientWebSocketResponse) -> None:
        self._session = session
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.drawn = ""
        self.asked: list[str] = []

    async def listen(self) -> None:
        async for message in self._session:
            said = json.loads(message.data)
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said.get("result", {}))
            elif said["method"] == "Network.webSocketFrameReceived":
                payload = said["params"]["response"]["payloadData"]
                with suppress(ValueError):
                    drawn = _ESCAPES.sub(b"", base64.b64decode(payload, validate=True))
                    self.drawn += drawn.decode("utf-8", errors="replace")
            elif said["method"] == "Network.requestWillBeSent":
                self.asked.append(said["params"]["request"]["url"])

    async def do(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._session.send_json({"id": number, "method": method, "params": params})
        return await asyncio.wait_for(self._answers[number], PATIENCE)

    async def press(self, key: str) -> None:
        """Press a key; what was drawn before is forgotten."""
        self.drawn = ""
        code = {"Enter": 13}.get(key, ord(key.upper()[0]))
        text = {"Enter": "\r"}.get(key, key)
        pressed = {"key": key, "text": text, "windowsVirtualKeyCode": code}
        await self.do("Input.dispatchKeyEvent", type="keyDown", **pressed)
        await self.do("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def see(self, *expected: str) -> None:
        """Wait until all of it was drawn."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while not all(part in self.drawn for part in expected):
            late = asyncio.get_running_loop().time() > deadline
            assert not late, f"{expected} was not drawn:\n{self.drawn[-3000:]}"
            await asyncio.sleep(0.05)


@asynccontextmanager
async def opened(link: str, profile: Path) -> AsyncIterator[Page]:
    """Open a link in a browser of its own."""
    command = [PROGRAM, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
    with (profile.parent / "chromium.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        async with (
            aiohttp.ClientSession() as client,
            client.ws_connect(await _address(profile), max_msg_size=0) as session,
        ):
            page = Page(session)
            listening = asyncio.create_task(page.listen())
            for domain in ("Network", "Page"):
                await page.do(f"{domain}.enable")
            await page.do("Emulation.setFocusEmulationEnabled", enabled=True)
            await page.do("Page.navigate", url=link)
            yield page
            listening.cancel()
    finally:
        process.terminate()
        process.wait(PATIENCE)


async def _address(profile: Path) -> str:
    """Return where the first page can be driven, once the browser says so."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    said = profile / "DevToolsActivePort"
    while not (said.is_file() and "\n" in said.read_text()):
        assert asyncio.get_running_loop().time() < deadline, "the browser did not start"
        await asyncio.sleep(0.05)
    port = said.read_text().split("\n")[0]
    listing = f"http://127.0.0.1:{port}/json/list"
    async with aiohttp.ClientSession() as client, client.get(listing) as answer:
        pages = [p for p in await answer.json() if p["type"] == "page"]
    return str(pages[0]["webSocketDebuggerUrl"])
