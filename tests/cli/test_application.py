"""The command as a whole: its help, its start, its exit codes, signals and pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module

import click
import pytest

from vault_kg import __version__
from vault_kg.cli.application import COMMANDS, cli

HEAVY = ("pydantic", "mcp", "apsw", "markdown_it", "numpy", "git", "yaml", "watchfiles", "rich")


def test_help_names_every_command(shell, tmp_path) -> None:
    done = shell("--help", cwd=tmp_path)
    assert done.code == 0
    for name, entry in COMMANDS.items():
        assert f"  {name}" in done.out
        assert entry.help in done.out


@pytest.mark.parametrize("arguments", [["--help"], ["show", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(environment, arguments) -> None:
    code = (
        f"import sys; from vault_kg.cli import main; main({arguments!r}); "
        f"sys.exit(' '.join(m for m in {HEAVY!r} if m in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_the_same_in_the_list_and_in_its_own_help(name) -> None:
    command = getattr(import_module(f"vault_kg.cli.{COMMANDS[name].module}"), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert (command.help or "").split("\n\n")[0].replace("\n", " ") == COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_shared_options(name) -> None:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--vault", "--state", "--actor", "--no-color"} <= options
    assert "--json" in options or name == "completion"


def test_version(vault_kg) -> None:
    assert vault_kg("--version").out == f"vault-kg, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["dance"], ["--vault"], ["show"], ["records", "--limit", "0"]]
)
def test_wrong_usage_exits_2(vault_kg, arguments, tmp_path) -> None:
    done = vault_kg(*arguments, cwd=tmp_path)
    assert done.code == 2
    assert "Error: " in done.err
    assert done.out == ""
    assert not (tmp_path / ".vault-kg").exists()


def test_a_closed_pipe_is_quiet(vault, environment) -> None:
    for number in range(300):
        (vault.root / f"note-{number:03}.md").write_text(
            f"# A note of number {number}\n" + "x" * 300
        )
    lister = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "records", "--kind", "note", "--limit", "1000"],
        cwd=vault.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert lister.stdout is not None and lister.stderr is not None
    lister.stdout.close()
    said = lister.stderr.read().decode()
    assert lister.wait(60) == 141
    assert said == ""


def test_ctrl_c_exits_130(vault, environment) -> None:
    watcher = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "watch"],
        cwd=vault.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert watcher.stderr is not None
    assert b"watching" in watcher.stderr.readline()
    time.sleep(0.3)
    os.kill(watcher.pid, signal.SIGINT)
    assert watcher.wait(60) == 130
    assert b"Traceback" not in watcher.stderr.read()


def test_json_is_on_every_list(vault_kg, vault) -> None:
    commands = (
        ["status"], ["records"], ["diagnostics"], ["history", vault["ada"]], ["impact", "Ada"],
        ["connections", "Ada"], ["lookup", "Ada"], ["show", "Ada"], ["search", "Ada"], ["review"],
        ["operations"], ["models", "list"],
    )  # fmt: skip
    for arguments in commands:
        done = vault_kg(*arguments, "--json", cwd=vault.root)
        assert done.code == 0, (arguments, done)
        assert isinstance(json.loads(done.out), dict)
