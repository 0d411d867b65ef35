"""How `vault-kg serve` starts, and does not; the service itself is tested in tests/serve."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vault_kg.serve.endpoint import Endpoint


def test_it_says_where_it_serves_and_ends_well_on_a_signal(vault, environment) -> None:
    served = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "serve"], cwd=vault.root / "main",
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert served.stderr is not None
    address = Path(Endpoint(vault.root / ".vault-kg").address)  # elsewhere where the path is long
    assert served.stderr.readline() == f"serving {vault.root} on {address}\n"
    assert address.is_socket()
    served.send_signal(signal.SIGINT)
    out, _ = served.communicate(timeout=30)
    assert (served.returncode, out) == (0, "")
    assert not address.exists()


def test_a_folder_without_a_vault_is_not_served(vault_kg, tmp_path) -> None:
    done = vault_kg("serve", cwd=tmp_path)
    assert done.code == 3
    assert "is not a vault" in done.err


@pytest.mark.parametrize("scope", ["", "everything", "read,review", "all,read"])
def test_what_is_no_scope_is_wrong_usage(vault_kg, vault, scope) -> None:
    assert vault_kg("serve", "--scope", scope, cwd=vault.root).code == 2
    assert vault_kg("mcp", "--scope", scope, cwd=vault.root).code == 2


def test_the_printed_configuration_repeats_how_to_connect(vault_kg, vault, tmp_path) -> None:
    def printed(*options: str) -> list[str]:
        done = vault_kg("mcp", "--print-config", "cursor", *options, cwd=tmp_path)
        assert done.code == 0, done.err
        arguments = json.loads(done.out)["mcpServers"]["vault-kg"]["args"]
        return list(arguments[arguments.index("mcp") + 1 :])

    root = str(vault.root)
    assert printed("--vault", root, "--connect") == ["--vault", root, "--connect"]
    assert printed("--connect", "s.sock", "--scope", "all", "--allow-remote-close") == [
        "--scope", "all", "--connect", str(tmp_path / "s.sock"), "--allow-remote-close",
    ]  # fmt: skip
    assert printed("--vault", root, "--connect", "--connect-eager", "--toolset", "graph") == [
        "--vault", root, "--toolset", "graph", "--connect", "--connect-eager",
    ]  # fmt: skip


def test_what_goes_with_connect_needs_it(vault_kg, vault) -> None:
    for option in ("--connect-eager", "--allow-remote-close"):
        done = vault_kg("mcp", option, cwd=vault.root)
        assert done.code == 2
        assert "go with --connect" in done.err
