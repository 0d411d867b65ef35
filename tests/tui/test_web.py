"""`--web`: seen and used in a browser of this machine, and by nobody else."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.serve.served import surroundings, until

aiohttp = pytest.importorskip("aiohttp", reason="the extra `web` is not installed")
pytest.importorskip("textual_serve", reason="the extra `web` is not installed")

from tests.tui import browser  # noqa: E402 - needs aiohttp

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


@pytest.fixture
def link(small: VaultBox) -> Iterator[str]:
    """The link that is printed."""
    small.page("Lady Lovelace", aliases=["wikidata:q7259"])
    small.page("Augusta Ada King", aliases=["wikidata:q7259"])
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "tui", "--web", "--port", "0", "--actor", "keeper",
         "--vault", str(small.root)],
        cwd=ROOT, env=surroundings(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    said = process.stderr.readline()
    yield said.removeprefix("open ").strip()
    process.terminate()
    assert process.wait(PATIENCE) == 0, process.stderr.read()


def origin(link: str) -> str:
    return link.partition("/?")[0]


async def get(url: str, **options: Any) -> tuple[int, str]:
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        aiohttp.ClientSession(cookie_jar=jar) as client,
        client.get(url, **options) as answer,
    ):
        return answer.status, await answer.text()


def test_only_the_whole_link_opens_it(link: str) -> None:
    assert asyncio.run(get(link))[0] == 200
    for wrong in (origin(link), link[:-1], f"{origin(link)}/static/js/textual.js"):
        status, said = asyncio.run(get(wrong))
        assert status == 403
        assert "open the whole link" in said


def test_another_name_for_this_host_is_refused(link: str) -> None:
    """A site whose name was made to mean this machine (DNS rebinding) gets nothing."""
    for name in ("evil.example", f"evil.example:{origin(link).rsplit(':', 1)[1]}", "localhost"):
        status, _ = asyncio.run(get(link, headers={"Host": name}))
        assert status == 403


def test_another_sites_page_cannot_connect_even_with_the_cookie(link: str) -> None:
    async def connect(headers: dict[str, str]) -> int:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            await client.get(link)
            try:
                async with client.ws_connect(f"{origin(link)}/ws", headers=headers):
                    return 101
            except aiohttp.WSServerHandshakeError as refused:
                return refused.status

    assert asyncio.run(connect({"Origin": "http://evil.example"})) == 403
    assert asyncio.run(connect({"Origin": origin(link)})) == 101


def test_it_listens_on_the_loopback_address_alone(link: str) -> None:
    port = int(origin(link).rsplit(":", 1)[1])
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", port))


def test_a_port_that_is_taken_is_told(small: VaultBox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "vault_kg.cli", "tui", "--web", "--port", port,
             "--vault", str(small.root)],
            cwd=ROOT, env=surroundings(), capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
    assert done.returncode == 1
    assert f"port {port} cannot be used" in done.stderr


@pytest.mark.skipif(not browser.PROGRAM, reason="there is no Chromium on this machine")
def test_a_decision_is_made_in_a_browser(link: str, small: VaultBox, tmp_path: Path) -> None:
    async def flow() -> list[str]:
        async with browser.opened(link, tmp_path / "profile") as page:
            await page.see("Recent", "Augusta Ada King")
            await page.press("4")
            await page.see("Shelves", "Ada Lovelace")
            await page.press("2")
            await page.see("may be one")
            await page.press("Enter")
            await page.see("May these be one thing?")
            await page.press("d")
            await page.see("They stay two pages")
            for key in "two":
                await page.press(key)
            await page.press("Enter")
            await page.see("Declined")
            return page.asked

    asked = asyncio.run(flow())
    candidates = lambda: small.call("knowledge_diagnostics", section="merges")["mergeCandidates"]  # noqa: E731
    until(lambda: not candidates())
    elsewhere = [url for url in asked if not re.match(rf"({re.escape(origin(link))}|data:)", url)]
    assert not elsewhere, "nothing is asked of other hosts"
