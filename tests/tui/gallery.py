"""The vault of the pictures: a little of everything, with ids and times that are always the same."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from tests.consolidation.boards import Board
from tests.operations.builder import VaultBox
from tests.tui.stage import meet
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids

NOTED = 1_767_603_600
"""When the note was written: 2026-01-05, 09:00 UTC."""

BODY = """\
# Life

Daughter of [[Charles Babbage|a friend's friend]]; **mathematician**, as she said herself.

| year | what |
| --- | --- |
| 1833 | met Babbage |
| 1843 | *Notes* |

- [[Nowhere]] leads nowhere
"""


def vault(root: Path, patch: pytest.MonkeyPatch) -> VaultBox:
    """Make the vault, in which something of every kind waits for a person."""
    numbers = itertools.count(1)
    patch.setattr(ids.secrets, "randbits", lambda _: next(numbers))
    box = Board(root)
    ada = box.page("Ada Lovelace", summary="Wrote the notes.", body=BODY, tags=["mathematics"],
                   aliases=["wikidata:q7259"], touches=["src/engine.py"])  # fmt: skip
    babbage = box.page("Charles Babbage", body="He designed the engines.\n")
    box.page("Augusta Ada King", summary="Countess.", aliases=["wikidata:q7259"])
    box.page("Analytical Engine", "Project", body="A mill and a store. See [[Ada Lovelace]].\n")
    claim = box.claim(ada, "Ada wrote the notes.", confidence=0.9)
    box.correct(claim, box.claim_values(ada, "Ada wrote the notes of 1843."))
    box.relationship(ada, babbage, "knows", "They met in 1833.")
    box.change(ada, summary="Wrote the notes on the engine.")
    _withdrawn_and_put_back(box)
    note = box.put("notes/idea.md", "# An idea\n\nOf looms.\n")
    os.utime(note, (NOTED, NOTED))
    box.put("main/pages/person/broken.md", "---\ntitle: [unclosed\n---\n\nText.\n")
    box.scan()
    meet(box, babbage, "He designed", "A person wrote that he designed", patch,
         body="An agent wrote this.\n")  # fmt: skip
    box.scan()
    box.consolidate("Keep it in SQLite", "One file, one writer.")
    session = box.begin(source_id="spec_008")
    box.node(session, "Keep it in SQLite", "One file, one writer, many readers.")
    box.node(session, "Back it up daily", "With the online backup.", type="Requirement")
    box.edge(session, "cand_002", "depends_on", "cand_001")
    box.propose(session)
    _stop_the_clock(box, patch)
    return box


def _stop_the_clock(box: VaultBox, patch: pytest.MonkeyPatch) -> None:
    """Let the UI see the time at which the vault was finished."""
    opened, now = Workspace.open, box.clock()
    patch.setattr(Workspace, "open", lambda root, state=None: opened(root, state, lambda: now))


def _withdrawn_and_put_back(box: VaultBox) -> None:
    rumour = box.page("A rumour", "Topic", body="Somebody said so.\n")
    box.page("What followed", "Topic", dependencies=[rumour])
    path = box.path(rumour)
    before = path.read_bytes()
    box.withdraw(rumour)
    path.write_bytes(before)
