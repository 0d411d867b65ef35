"""`vault-kg graph …` as somebody types it, over real Python, Markdown and configuration."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.operations.conftest import fast_folder

STORE = '''"""Where things are kept."""


class Store:
    """Keeps things."""

    def load(self, name):
        """Return a thing by name."""
        return parse(name)


def parse(text):
    return text.strip()
'''
APP = """from pkg.store import Store


def main():
    store = Store()
    return store.load("x")


if __name__ == "__main__":
    main()
"""
GUIDE = "# Guide\n\n```sh\n# no heading\n```\n\nSee [the store](pkg/store.py).\n\nSecond\n------\n"


class Command:
    def __init__(self, folder: Path) -> None:
        self.vault, self.project = folder / "vault", folder / "project"
        for path, text in {"pkg/store.py": STORE, "app.py": APP, "guide.md": GUIDE,
                           "pyproject.toml": '[tool]\nname = "x"\n'}.items():  # fmt: skip
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text)
        self.run("init", self.vault)

    def run(self, *arguments: Any, code: int = 0, timeout: float = 120) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "vault_kg.cli", *map(str, arguments)],
            cwd=self.vault if self.vault.exists() else self.vault.parent,
            capture_output=True, text=True, timeout=timeout, check=False,
            env=os.environ | {"VAULT_KG_EMBEDDING_MODEL": "off"},
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        self.said = done.stderr
        return done.stdout

    def json(self, *arguments: Any) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.run("graph", *arguments, "--json"))["data"]
        return data


@pytest.fixture(scope="module")
def command() -> Any:
    with fast_folder() as name:
        made = Command(Path(name))
        made.run("graph", "index", made.project)
        yield made


def test_a_folder_becomes_a_root_and_is_indexed(command: Command) -> None:
    config = (command.vault / ".vault-kg/vault.toml").read_text()
    assert '[[graph.roots]]\npath = "../project"\nname = "project"\n' in config
    assert "project: 4 skipped" in command.run("graph", "index", command.project)
    assert (command.vault / ".vault-kg/vault.toml").read_text() == config
    report = command.json("index", command.project / "pkg", "--force")["reports"]
    assert [(r["root"], r["read"]) for r in report] == [("project", 1)]


def test_impact_names_what_may_break(command: Command) -> None:
    said = command.run("graph", "impact", "Store.load")
    assert "will break" in said and "code:function:app.py::main" in said and "line 4" in said
    data = command.json("impact", "parse")
    assert {i["node"]["label"] for i in data["will_break"]["items"]} >= {"load", "main"}


def test_references_context_and_paths(command: Command) -> None:
    assert "code:function:app.py::main" in command.run("graph", "references", "pkg/store.py::Store")
    assert "calls" in command.run("graph", "context", "Store.load")
    assert command.json("path", "main", "parse")["hops"] == 2
    assert "graph LR" in command.run("graph", "export", "--from", "main")
    assert "code:class:pkg/store.py::Store" in command.run("graph", "resolve", "Store")


ABOUT_ONE = (
    ["impact", "Stroe.load"], ["references", "Stroe.load"], ["context", "Stroe.load"],
    ["path", "main", "Stroe.load"], ["path", "Stroe.load", "main"], ["export", "--from", "Stroe.load"],
)  # fmt: skip


@pytest.mark.parametrize("asked", ABOUT_ONE, ids=" ".join)
def test_a_name_that_nothing_has_is_refused_with_names_that_are_near(
    command: Command, asked: list[str]
) -> None:
    assert command.run("graph", *asked, code=1) == ""
    assert "nothing in the graph is called 'Stroe.load'" in command.said
    assert "vault-kg graph resolve WORDS" in command.said
    assert "\n  code:method:pkg/store.py::Store.load\n" in command.said
    error = json.loads(command.run("graph", *asked, "--json", code=1))["error"]
    assert error["code"] == "not_found"
    assert {"uid": "code:method:pkg/store.py::Store.load"} in error["data"]["candidates"]
    assert "Stroe" in error["message"]


def test_an_empty_graph_says_what_to_do(command: Command) -> None:
    with fast_folder() as name:
        fresh = Command(Path(name))
        fresh.run("graph", "impact", "main", code=1)
        assert "nothing is indexed yet: run `vault-kg graph index`" in fresh.said
        (fresh.project / "one").mkdir()
        (fresh.project / "one/a.md").write_text("Words.\n")
        assert fresh.run("graph", "index", fresh.project / "one").endswith("2 nodes, 1 edge\n")


def test_a_root_is_reported_once_with_what_hooks_queued(command: Command) -> None:
    command.run("graph", "hook", command.project / "app.py")
    lines = command.run("graph", "index").splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == ["vault", "project"]


def test_names_of_several_things_are_listed(command: Command) -> None:
    (command.project / "twin.py").write_text("def parse(text):\n    return text\n")
    command.run("graph", "index", command.project)
    try:
        command.run("graph", "impact", "parse", code=1)
        assert "  code:function:twin.py::parse  function  project\n" in command.said
    finally:
        (command.project / "twin.py").unlink()
        command.run("graph", "index", command.project)


def test_what_answers_do_not_have_is_said(command: Command) -> None:
    assert command.run("graph", "references", "parse", "--kind", "links_to") == ""
    assert "None is of kind links_to; there are 1 calls" in command.said
    assert command.run("graph", "references", "guide.md#Second") == ""
    assert "Nothing refers to doc:heading:guide.md#second" in command.said
    assert command.run("graph", "resolve", "zugzwang") == ""
    assert "Nothing is called 'zugzwang'" in command.said
    assert command.run("graph", "references", "pkg/store.py", "--limit", 1).count("\n") == 1
    assert "1 of " in command.said


def test_a_path_says_over_what_it_leads(command: Command) -> None:
    lines = command.run("graph", "path", "main", "parse").splitlines()
    assert len(lines) == 3 and all("→" in line or "←" in line for line in lines[1:])
    assert lines[0].split()[0] == "code:function:app.py::main"
    assert command.run("graph", "path", "main", "guide.md", "--max-hops", 1) == ""
    assert command.said.startswith("No path: ")
    near = command.run("graph", "context", "parse", "--depth", 2)
    assert [line for line in near.splitlines() if line.startswith("near") and "main" in line]


def test_documents_and_configuration_are_in_the_graph(command: Command) -> None:
    headings = command.json("resolve", "guide.md")["results"]
    assert headings[0]["uid"] == "doc:file:guide.md"
    answer = json.loads(
        command.run("call", "graph_resolve", "--json", '{"q": "guide.md", "kinds": "heading"}')
    )
    assert [n["label"] for n in answer["data"]["results"]] == ["Guide", "Second"]
    data = command.json("references", "pkg/store.py", "--kind", "links_to")
    assert data["total"] == 1
    assert command.json("resolve", "pyproject.toml::tool.name")["total"] == 1


def test_the_doctor_says_that_all_is_well(command: Command) -> None:
    assert command.run("graph", "doctor").endswith("healthy\n")


def test_a_hook_is_quick_and_the_watcher_takes_it_up(command: Command) -> None:
    (command.project / "more.py").write_text("def extra():\n    return 1\n")
    before = time.perf_counter()
    command.run("graph", "hook", command.project / "more.py")
    assert time.perf_counter() - before < 5
    watcher = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "watch", "--vault", command.vault],
        stderr=subprocess.DEVNULL, env=os.environ | {"VAULT_KG_EMBEDDING_MODEL": "off"},
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while (command.vault / ".vault-kg/graph.queue").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        while (command.vault / ".vault-kg/graph.queue.taken").exists():
            time.sleep(0.1)
    finally:
        watcher.terminate()
        watcher.wait()
    assert command.json("resolve", "extra")["total"] == 1


def test_outside_a_vault_is_said(command: Command) -> None:
    command.run("graph", "hook", "x", "--vault", command.project, code=3)
    command.run("graph", "doctor", "--vault", command.project, code=3)
    command.run("graph", "index", command.project / "none.py", code=0)


def test_one_letter_is_a_whole_name_or_says_what_to_type(command: Command) -> None:
    (command.project / "short.py").write_text("def x():\n    return 1\n")
    command.run("graph", "index", command.project)
    assert command.run("graph", "resolve", "x").startswith("code:function:short.py::x ")
    assert command.run("graph", "resolve", "q") == ""
    assert "Nothing is named just 'q'; give two characters or more" in command.said
    command.run("graph", "resolve", " ", code=1)
    assert "q: is blank: give a name, words of it, a path like src/a.py" in command.said
    (command.project / "short.py").unlink()


def test_a_root_or_kind_that_does_not_exist_is_said(command: Command) -> None:
    for asked in (["resolve", "main"], ["impact", "main"], ["references", "main"]):
        command.run("graph", *asked, "--root", "nosuch", code=1)
        assert "there is no root 'nosuch'; there are vault, project" in command.said
    command.run("graph", "references", "main", "--kind", "bogus", code=1)
    assert "'bogus' is no kind of edge; there are belongs_to, calls" in command.said


def test_both_ends_of_a_path_say_what_they_were_taken_for(command: Command) -> None:
    command.run("graph", "path", "keeps things", "things are kept")
    assert "'keeps things' was taken for code:class:pkg/store.py::Store" in command.said
    assert "'things are kept' was taken for code:file:pkg/store.py" in command.said


def test_a_limit_of_what_is_listed_is_a_true_one(command: Command) -> None:
    assert command.run("graph", "resolve", "sto", "--limit", "1").count("\n") == 1
    assert "1 of " in command.said and "--json" not in command.said
    found = command.json("resolve", "sto", "--limit", "1")
    assert found["count"] == 1 and found["total"] > 1


def test_what_is_not_shown_of_an_export_is_said(command: Command) -> None:
    assert command.run("graph", "export", "--max-nodes", "2").count("[") == 2
    assert "2 of " in command.said and "--max-nodes shows more" in command.said
    whole = command.json("export", "--format", "json")
    assert whole["node_total"] == whole["node_count"] and not whole["meta"]["truncated"]


def test_what_indexing_met_is_said() -> None:
    with fast_folder() as name:
        fresh = Command(Path(name))
        assert "nothing is indexed yet" in fresh.run("graph", "doctor")
        (fresh.project / "bad.py").write_text("def (\n")
        assert "1 failed" in fresh.run("graph", "index", fresh.project)
        assert "project is a root of the graph now: .vault-kg/vault.toml" in fresh.said
        assert "1 file cannot be parsed: `vault-kg graph doctor` says why" in fresh.said
        none = fresh.project / "none.py"
        assert f"project: there is no {none}" in fresh.run("graph", "index", none)


def test_a_page_is_meant_by_its_title_or_id_and_shown_with_titles() -> None:
    sample = Path(__file__).parents[2] / "sample_vault"
    with fast_folder() as name:
        vault = Path(name) / "vault"
        shutil.copytree(sample, vault)
        made = Command(Path(name))
        made.run("graph", "index")
        shown = made.run("graph", "context", "Ada Lovelace")
        assert "Born in London in 1815" in shown and "taken for" not in made.said
        uid = "pg_01kgvtdfemva3knnm8pqg6zpzx"
        assert made.run("graph", "context", uid) == shown
        assert f"record:{uid}: " in made.run("graph", "impact", "Ada Lovelace")
