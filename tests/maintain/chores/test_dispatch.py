"""Chores from the outside: proposed, dispatched to a stub agent, refused, logged."""

from __future__ import annotations

import json
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.maintain.conftest import Garden, Talk
from tests.operations.builder import Clock
from vault_kg.cli import main
from vault_kg.errors import InvalidArgument, InvalidRecord, NotFound
from vault_kg.maintain.chores import work
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller

LONG = "A gist of very many words. " * 14
ON = "\n[maintenance]\nchores = true\nagent = 'agent'\n"


def enable(garden: Garden, text: str = ON) -> None:
    config = garden.box.root / ".vault-kg/vault.toml"
    config.write_text(config.read_text() + text)


def later(garden: Garden, **passed: float) -> None:
    clock = garden.box.ws.clock
    assert isinstance(clock, Clock)
    clock.at += timedelta(**(passed or {"minutes": 11}))


def proposed(garden: Garden) -> dict[str, Any]:
    return garden.box.call("maintain_chore")


def sent(garden: Garden, **asked: Any) -> dict[str, Any]:
    return garden.box.call("maintain_dispatch", agent="agent", **asked)


def test_an_empty_vault_has_nothing_to_do(garden: Garden) -> None:
    assert proposed(garden)["text"] == "There is nothing to do."


def test_the_chore_that_weighs_most_with_its_own_runbook(garden: Garden, talk: Talk) -> None:
    talk.put("hub")
    for n in range(3):
        talk.join(talk.put(f"node-{n}", LONG), "hub")
    found = proposed(garden)
    assert (found["kind"], found["partition"]) == ("gist", "user")
    assert len(found["targets"]) == 2 and "chores and passes are off" in found["gate"]
    for part in (
        "kg_read",
        "at most 300 characters",
        'task_id="chore"',
        'level="user"',
        "declined",
    ):
        assert part in found["prompt"]
    assert all(f"- {target['id']}: gist of" in found["prompt"] for target in found["targets"])


def test_no_chore_is_made_of_what_the_tools_could_not_stamp(garden: Garden) -> None:
    garden.box.page("Alone", summary=LONG)
    assert proposed(garden)["kind"] is None
    with pytest.raises(InvalidArgument, match="no level that the kg_"):
        garden.box.call("maintain_chore", partition="main")


def test_an_anchor_chore_has_the_answer_prepared(garden: Garden) -> None:
    root = Path(garden.project())
    talk = garden.talk()
    (root / "src").mkdir()
    (root / "src/new").mkdir()
    (root / "src/new/a.py").write_text("x")
    talk.put("one", level="project", touches=["src/a.py:run"])
    talk.put("two", level="project")
    talk.join("one", "two", level="project")
    later(garden)
    found = proposed(garden)
    assert found["kind"] == "anchor"
    assert "src/a.py:run: moved -> src/new/a.py:run (the only file of that name)" in found["prompt"]
    assert f'cwd="{root}"' in found["prompt"]


def test_of_very_many_touches_a_chore_takes_some(garden: Garden) -> None:
    root = Path(garden.project())
    talk = garden.talk()
    talk.put("many", level="project", touches=[f"src/mod{n}/file{n}.py" for n in range(90)])
    talk.join("many", talk.put("two", level="project"), level="project")
    later(garden)
    found = proposed(garden)
    assert found["kind"] == "anchor" and root.is_dir()
    assert found["prompt"].count(": unknown (") == work.MOST_ANCHORS
    assert f"- {90 - work.MOST_ANCHORS} more lead nowhere" in found["prompt"]


def test_episodes_with_a_lesson_are_found(garden: Garden, talk: Talk) -> None:
    for n in (1, 2):
        talk.put(f"week{n}-review", "Retries without jitter met again.", touches=["/etc/hosts"])
        talk.join(f"week{n}-review", talk.put(f"hub-{n}"))
    later(garden)
    found = proposed(garden)
    assert found["kind"] == "lift", found["text"]
    assert {t["id"] for t in found["targets"]} == {"week1-review", "week2-review"}
    assert "1 lift cluster(s)" in talk.debt()


def test_lessons_of_earlier_chores_stand_in_the_prompt(garden: Garden, talk: Talk) -> None:
    talk.put("thin-gists", "A thin gist rarely has an honest edge.", level="maintain")
    talk.put("alone", LONG)
    assert "thin-gists: A thin gist rarely has an honest edge." in proposed(garden)["prompt"]


def test_a_declined_page_is_named_and_not_proposed(garden: Garden, talk: Talk) -> None:
    talk.put("long-one", LONG)
    talk.join("long-one", talk.put("other"))
    state = {"declined": ["long-one: its length is its worth"]}
    talk.call("kg_progress", task_id="maintain", level="user", state=state)
    found = proposed(garden)
    assert found["kind"] is None
    assert [one["reason"] for one in found["passed_over"]] == ["an earlier pass declined it"]


def test_a_dispatch_is_noted_and_the_next_is_refused_while_it_runs(
    garden: Garden, talk: Talk
) -> None:
    talk.put("long-one", LONG)
    assert sent(garden)["dispatch"]["state"] == "refused"
    enable(garden)
    first = sent(garden)
    assert first["dispatch"]["state"] == "running" and first["prompt"] and first["seconds"] == 420
    second = sent(garden, force=True)
    assert second["prompt"] is None and "running since" in second["dispatch"]["reason"]
    ended = garden.box.call("maintain_dispatch_end", id=first["dispatch"]["id"], state="done")
    assert ended["dispatch"]["state"] == "done" and ended["dispatch"]["ended_at"]
    assert "45 minutes" in sent(garden)["dispatch"]["reason"]
    log = garden.box.call("maintain_dispatches")
    assert [one["state"] for one in log["dispatches"]] == ["refused", "refused", "done", "refused"]
    assert log["total"] == 4 and all(
        one["reason"] for one in log["dispatches"] if one["state"] != "done"
    )


def test_what_was_lost_does_not_block_for_ever(garden: Garden, talk: Talk) -> None:
    for n in range(4):
        talk.put(f"long-{n}", LONG)
    enable(garden)
    sent(garden)
    later(garden, days=30)
    assert sent(garden)["dispatch"]["state"] == "running"
    states = [d["state"] for d in garden.box.call("maintain_dispatches")["dispatches"]]
    assert states == ["running", "lost"]


def test_a_pass_waits_for_the_switch_and_for_a_chore_that_runs(garden: Garden, talk: Talk) -> None:
    for n in range(8):
        talk.put(f"node-{n}", LONG)
    assert "passes are off" in sent(garden, what="pass")["dispatch"]["reason"]
    enable(garden)
    chore = sent(garden)
    for forced in (False, True):
        refused = sent(garden, what="pass", force=forced)
        assert "running since" in refused["dispatch"]["reason"] and refused["prompt"] is None
        assert refused["tools"] == []
    garden.box.call("maintain_dispatch_end", id=chore["dispatch"]["id"], state="done")
    assert sent(garden, what="pass")["dispatch"]["state"] == "running"
    assert "running since" in sent(garden, force=True)["dispatch"]["reason"]


def test_a_chore_is_given_the_tools_that_it_takes_and_a_pass_more(
    garden: Garden, talk: Talk
) -> None:
    for n in range(8):
        talk.put(f"node-{n}", LONG)
    chore = sent(garden, force=True)
    garden.box.call("maintain_dispatch_end", id=chore["dispatch"]["id"], state="done")
    whole = sent(garden, what="pass", force=True)
    assert set(chore["tools"]) < set(whole["tools"])
    assert "kg_delete_node" in set(whole["tools"]) - set(chore["tools"])
    every = registry.operations()
    assert all(every[name].toolset == "maintain" for name in whole["tools"])
    assert all(every[name].scope in ("read", "write") for name in whole["tools"])
    for one in (chore, whole):
        asked = set(re.findall(r"\bkg_\w+", one["prompt"])) - {"kg_"}
        assert asked <= set(one["tools"]), "what the prompt asks for may be called"


def test_a_pass_is_sent_with_the_runbook_for_a_graph_in_use(garden: Garden, talk: Talk) -> None:
    for n in range(8):
        talk.put(f"node-{n}")
    enable(garden)
    found = sent(garden, what="pass")
    assert found["dispatch"]["kind"] == "pass" and found["seconds"] == 1_500, found["text"]
    assert "STAMP" in found["prompt"] and "maintenance=true" in found["prompt"]
    garden.box.call("maintain_dispatch_end", id=found["dispatch"]["id"], state="done")
    assert "a pass was dispatched today" in sent(garden, what="pass")["dispatch"]["reason"]


def test_settings_that_say_something_else_are_named(garden: Garden, talk: Talk) -> None:
    talk.put("long-one", LONG)
    enable(garden, "\n[maintenance]\nchores = 'perhaps'\n")
    with pytest.raises(InvalidRecord, match=r"vault.toml: maintenance.chores"):
        proposed(garden)


def test_another_ones_levels_do_not_exist(garden: Garden, talk: Talk) -> None:
    talk.put("long-one", LONG)
    stranger = Caller("Stranger", partitions=frozenset({"main"}))
    assert garden.box.call("maintain_chore", stranger)["kind"] is None


STUB = """
import json, sys
prompt = sys.stdin.read()
open({seen!r}, "w").write(prompt)
print("did it")
"""


def test_chore_run_lets_a_command_do_it(
    garden: Garden, talk: Talk, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for n in range(6):
        talk.put(f"long-{n}", LONG)
    enable(garden)
    script, seen = tmp_path / "stub.py", tmp_path / "seen"
    script.write_text(STUB.format(seen=str(seen)))
    agent = f"{sys.executable} {script}"
    vault = ("--vault", str(garden.box.root))
    assert main(["chore", "run", "--agent", agent, "--json", *vault]) == 0
    said = json.loads(capfd.readouterr().out)
    assert said["dispatch"]["state"] == "done" and said["said"].strip() == "did it"
    assert "long-0" in seen.read_text()
    assert main(["chore", "run", "--agent", agent, *vault]) == 1
    assert "refused: the last one was less than 45 minutes ago" in capfd.readouterr().out
    assert (
        main(
            [
                "chore",
                "run",
                "--agent",
                f"{sys.executable} -c 'raise SystemExit(7)'",
                "--force",
                *vault,
            ]
        )
        == 1
    )
    assert "failed: it ended with status 7" in capfd.readouterr().out
    assert main(["chore", "log", *vault]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 3
    assert main(["chore", "next", *vault]) == 0


def test_chore_run_without_a_command_says_where_to_give_one(
    garden: Garden, talk: Talk, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["chore", "run", "--vault", str(garden.box.root)]) == 1
    assert "--agent" in capfd.readouterr().err


def test_the_log_is_read_page_by_page(
    garden: Garden, talk: Talk, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(5):
        sent(garden)
    whole = garden.box.call("maintain_dispatches")
    assert (whole["count"], whole["total"], whole["next_cursor"]) == (5, 5, None)
    seen, cursor = [], None
    for left in (True, True, False):
        page = garden.box.call("maintain_dispatches", limit=2, cursor=cursor)
        seen += page["dispatches"]
        cursor = page["next_cursor"]
        assert page["total"] == 5 and (cursor is not None) == left
    assert seen == whole["dispatches"]
    assert main(["chore", "log", "--limit", "4", "--vault", str(garden.box.root)]) == 0
    said = capfd.readouterr()
    assert len(said.out.splitlines()) == 4 and "4 of 5; more with --cursor" in said.err


def test_the_number_of_no_dispatch_is_refused(garden: Garden) -> None:
    for number, error in ((0, InvalidArgument), (7, NotFound), (1 << 70, InvalidArgument)):
        with pytest.raises(error):
            garden.box.call("maintain_dispatch_end", id=number, state="done")
