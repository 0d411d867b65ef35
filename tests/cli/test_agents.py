"""`mcp --print-config` and `completion`; the server itself is tested in tests/serve."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.cli.conftest import ROOT
from vault_kg.cli import agents
from vault_kg.operations import registry


@pytest.mark.parametrize(
    ("client", "place"),
    [
        ("claude-code", "vault"),
        ("claude-desktop", "/vault"),
        ("cursor", "../here/vault"),
        ("vscode", None),
    ],
)
def test_the_printed_configuration_starts_the_server_from_anywhere(
    shell, vault, tmp_path, client, place
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    root = vault.root.rename(here / "vault")
    model = here / "models" / "some.gguf"
    model.parent.mkdir()
    model.touch()
    asked = ["--vault", str(here) + place if place.startswith("/") else place] if place else []
    done = shell(
        "mcp", "--print-config", client, *asked, "--actor", "Grace", cwd=here if place else root,
        VAULT_KG_CACHE="../here/models/" if place else "../models/",
    )  # fmt: skip
    assert done.code == 0, done.err
    server = done.json["servers" if client == "vscode" else "mcpServers"]["vault-kg"]
    assert server["args"][-2:] == ["--actor", "Grace"]
    assert server["env"]["VAULT_KG_EMBEDDING_MODEL"] == "off"
    assert Path(server["env"]["VAULT_KG_CACHE"]).samefile(model.parent)
    started = StdioServerParameters(
        command=server["command"], args=server["args"], cwd=elsewhere,
        env=server["env"] | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    async def work() -> None:
        with anyio.fail_after(60):
            async with Client(started) as agent:
                found = await agent.call_tool("knowledge_lookup", {"text": "Ada Lovelace"})
                assert found.structured_content["record"]["id"] == vault["ada"]
                made = {"requestId": "r", "type": "Topic", "title": "Looms"}
                receipt = await agent.call_tool("knowledge_save_page", made)
                assert receipt.structured_content["actor"] == "Grace"

    anyio.run(work)
    assert list(elsewhere.iterdir()) == []


def test_a_configuration_is_for_servers_that_clients_start(vault_kg, vault) -> None:
    done = vault_kg("mcp", "--print-config", "cursor", "--http", cwd=vault.root)
    assert (done.code, done.out) == (2, "")


def test_a_toolset_is_one_that_operations_have(vault_kg, vault) -> None:
    done = vault_kg("mcp", "--toolset", "maintenance", cwd=vault.root)
    assert done.code == 2 and "'consolidation'" in done.err
    every = {name for o in registry.operations().values() for name in (o.toolset, *o.also)}
    assert every - {"ui"} == set(agents.TOOLSETS), "what the review UI asks is not for agents"


def test_review_is_never_a_scope_of_agents(vault_kg, vault) -> None:
    done = vault_kg("mcp", "--scope", "read,review", cwd=vault.root)
    assert done.code == 2
    assert "review is for people" in done.err
    assert vault_kg("mcp", "--scope", "everything").code == 2
    assert vault_kg("mcp", "--scope", "").code == 2


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(vault_kg, tmp_path, shell_name) -> None:
    done = vault_kg("completion", shell_name, cwd=tmp_path)
    assert done.code == 0
    assert "_VAULT_KG_COMPLETE" in done.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_completes_commands_and_options_in_bash(environment, tmp_path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "vault-kg"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m vault_kg.cli "$@"\n')
    program.chmod(0o755)
    code = """
    eval "$(vault-kg completion bash)" || exit 1
    COMP_WORDS=(vault-kg rec) COMP_CWORD=1
    _vault_kg_completion vault-kg; echo "${COMPREPLY[@]}"
    COMPREPLY=() COMP_WORDS=(vault-kg records --life) COMP_CWORD=2
    _vault_kg_completion vault-kg; echo "${COMPREPLY[@]}"
    """
    path = f"{tmp_path / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["records recover", "--lifecycle"]
