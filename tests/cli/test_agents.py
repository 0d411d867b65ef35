"""`mcp --print-config` and `completion`; the server itself is tested in tests/serve."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest


@pytest.mark.parametrize("client", ["claude-code", "claude-desktop", "cursor", "vscode"])
def test_the_printed_configuration_starts_the_server_from_anywhere(
    vault_kg, vault, environment, tmp_path, client
) -> None:
    done = vault_kg("mcp", "--print-config", client, "--actor", "Grace", cwd=vault.root)
    assert done.code == 0
    servers = json.loads(done.out)
    server = servers["servers" if client == "vscode" else "mcpServers"]["vault-kg"]
    assert server["args"][-4:] == ["--vault", str(vault.root), "--actor", "Grace"]
    if client == "claude-code":
        ended = subprocess.run(
            [server["command"], *server["args"]], cwd=tmp_path, env=environment, input=b"",
            capture_output=True, timeout=60,
        )  # fmt: skip
        assert (ended.returncode, ended.stdout) == (0, b"")


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
