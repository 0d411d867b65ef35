#!/usr/bin/env python3
"""The main job of vault-kg, on a copy of the sample vault, explained line by line.

Every step is a command that you can type yourself; what it prints is what you see.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
VAULT = ROOT / "state" / "demo"
COMMAND = [sys.executable, "-m", "vault_kg.cli"]
WIDTH = 100
COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ

ADA, COUNTESS = "pg_01kgvtdfemva3knnm8pqg6zpzx", "pg_01kj34zh83kv6k6hj9636a3sf8"
ENGINE_NO_1 = "pg_01khdy21r3kt6v3akj844n4vz8"
WORKSHOPS = "cl_01khdyxh7ty8j1cm4m3cje0k0c"
BERNOULLI = "cl_01kh0t242k992m38t5xdvb1r23"
ENGINES_SOURCE, MUSEUM_SOURCE = "sr_28e10xxmwd7p07nvqxtct6f98y", "sr_rprjee70tmbj9q0ceh6xg9shgq"


def main() -> None:
    """Run the demo."""
    prepare()
    look()
    search()
    save()
    correct()
    refuse()
    merge()
    withdraw()
    history()
    say_goodbye()


def prepare() -> None:
    """Copy the sample vault and make it a vault."""
    shutil.rmtree(VAULT, ignore_errors=True)
    VAULT.parent.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "sample_vault", VAULT)
    title("A vault is a folder of Markdown files")
    say(
        "sample_vault is a small vault about Ada Lovelace and the Analytical Engine: pages, claims, "
        "relationships, the sources that they quote, and plain notes beside. The demo works on a copy "
        "in state/demo."
    )
    vault_kg("init", str(VAULT), vault=False)
    say("Nothing in a file was changed; .vault-kg/ beside them holds the state, .git the history.")
    vault_kg("reindex", show=12)
    vault_kg("status")


def look() -> None:
    """Look a page up."""
    title("Look a page up, by any of its names")
    vault_kg("lookup", "解析機関")
    vault_kg("show", "Difference Engine No. 1", show=32)


def search() -> None:
    """Search by meaning and by words."""
    title("Search by meaning, and by words")
    say("None of these words is in the vault; only their meaning is:")
    vault_kg("search", "artificial intelligence creating tunes", "--limit", "2")
    say("And this is found by its exact characters only:")
    vault_kg("search", "1862-89", "--limit", "2")


def save() -> None:
    """Save a claim with its evidence."""
    title("Save a claim, with the lines that it comes from")
    say(
        "A claim needs evidence: a retained source, its lines, and a quote that stands there verbatim."
    )
    call(
        "knowledge_save_claim",
        {
            "requestId": "demo-claim",
            "claimKind": "fact",
            "statement": "Work on Difference Engine No. 1 stopped in 1833.",
            "owner": ENGINE_NO_1,
            "evidence": [
                {
                    "source": ENGINES_SOURCE,
                    "lines": "10",
                    "quote": "Work stopped in 1833, in a quarrel about money and about moving the "
                    "workshop.",
                }
            ],
        },
    )


def correct() -> None:
    """Correct a claim."""
    title("Correct a claim that turned out to be wrong")
    say(
        "The caller says which revision and hash it looked at. The original stays, superseded; the "
        "replacement points back to it; both change in one entry with one receipt."
    )
    seen = fence(WORKSHOPS)
    call("knowledge_correct", correction(seen, "demo-correct"))
    say("The same request again gives the same receipt; nothing happens twice:")
    call("knowledge_correct", correction(seen, "demo-correct"), show=4)


def refuse() -> None:
    """Try a stale write."""
    title("A stale write is refused, and told what stands now")
    call(
        "knowledge_withdraw",
        {
            "requestId": "demo-stale",
            "id": WORKSHOPS,
            "expectedRevision": 1,
            "expectedHash": "sha256:" + "0" * 64,
            "reason": "I looked at this before it was corrected",
        },
        refused=True,
    )


def merge() -> None:
    """Merge two pages."""
    title("Merge two pages that are one person")
    say("Diagnostics found two pages with the same identity alias. A person confirms; then:")
    vault_kg("diagnostics", "--section", "merges")
    call(
        "knowledge_merge",
        {
            "requestId": "demo-merge",
            "reason": "both are wikidata:Q7259",
            "survivor": fence(ADA),
            "absorbed": fence(COUNTESS),
        },
    )
    say(
        "The absorbed page's name now means the survivor, and records that name it were not rewritten:"
    )
    vault_kg("lookup", "Augusta Ada King, Countess of Lovelace")


def withdraw() -> None:
    """Withdraw a claim, and put the file back by hand."""
    title("Withdraw a claim: what stands on it leaves default reads")
    before = json.loads(ask("records", "--json"))["total"]
    path = VAULT / get(BERNOULLI)["path"]
    original = path.read_bytes()
    call(
        "knowledge_withdraw",
        {
            "requestId": "demo-withdraw",
            **fence(BERNOULLI),
            "reason": "A recollection of 1864; her letter of July 1843 says the idea was hers.",
        },
        show=40,
    )
    after = json.loads(ask("records", "--json"))["total"]
    say(f"Current records before: {before}; now: {after}.")

    title("Put the withdrawn file back by hand: the guard holds")
    path.write_bytes(original)
    say(
        f"(the old bytes of {path.relative_to(VAULT)} were just written back, `lifecycle: active` and all)"
    )
    vault_kg("diagnostics", "--section", "files")
    again = json.loads(ask("records", "--json"))["total"]
    say(f"Current records: {again}. It stays withdrawn in every read, and diagnostics says where.")


def history() -> None:
    """Show the history."""
    title("History: who, when, how and why")
    vault_kg("history", BERNOULLI)
    say("Each entry is one commit of ordinary Git, with a message for people:")
    run(["git", "-C", str(VAULT), "log", "--format=%h %an: %s"])


def say_goodbye() -> None:
    """Say what to try next."""
    title("What to try next")
    for line in (
        "open state/demo in your editor, change a sentence, and search for it:",
        "  vault-kg --vault state/demo watch          (in one terminal)",
        "  vault-kg --vault state/demo search …       (in another)",
        "take the merge back:   vault-kg --vault state/demo unmerge " + COUNTESS,
        "give it to an agent:   vault-kg mcp --print-config claude-code --vault state/demo",
        "use your own notes:    vault-kg search --vault ~/notes …   (no file is changed)",
        "read on:               docs/tutorial/first-vault.md, docs/explanation/write-path.md",
    ):
        print("  " + line)
    print(f"\n  vault-kg is {ROOT / '.venv/bin/vault-kg'}" if (ROOT / ".venv").exists() else "")


def correction(seen: dict[str, Any], request_id: str) -> dict[str, Any]:
    """Return the request that corrects the claim about the workshops."""
    original = get(WORKSHOPS)
    return {
        "requestId": request_id,
        **seen,
        "reason": "The Science Museum built Difference Engine No. 2 to tolerances of Babbage's day.",
        "expectedOntologyFingerprint": json.loads(
            ask("call", "knowledge_ontology", "--json", '{"limit": 1}')
        )["fingerprint"],
        "replacement": {
            "kind": "claim",
            "claimKind": "fact",
            "owner": original["owner"],
            "statement": "Babbage's engines stayed unfinished for want of money, the quarrel with "
            "Clement and ever new designs; the workshops of his day were accurate enough.",
            "evidence": [
                {
                    "source": MUSEUM_SOURCE,
                    "lines": "8-9",
                    "quote": "So the accuracy of the workshops was not what stopped Babbage",
                }
            ],
        },
    }


def fence(record_id: str) -> dict[str, Any]:
    """Return a record's id with the revision and hash that stand."""
    seen = get(record_id)
    return {
        "id": record_id,
        "expectedRevision": seen["revision"],
        "expectedHash": seen["hash"],
    }


def get(record_id: str) -> dict[str, Any]:
    """Return a record as JSON."""
    arguments = json.dumps({"id": record_id, "followMerges": False})
    found: dict[str, Any] = json.loads(ask("call", "knowledge_get", "--json", arguments))
    return found


def call(name: str, arguments: dict[str, Any], *, refused: bool = False, show: int = 30) -> None:
    """Show a call of an operation and what it answers, without what is empty."""
    text = json.dumps(arguments, ensure_ascii=False)
    command(["vault-kg", "call", name, "--json", text])
    done = subprocess.run(
        [*COMMAND, "--vault", str(VAULT), "call", name, "--json", text],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != (1 if refused else 0):
        sys.exit(f"{done.stdout}\n{done.stderr}\nthe demo expected another outcome")
    answer = without_empty(json.loads(done.stdout))
    output(json.dumps(answer, indent=2, ensure_ascii=False), show)


def vault_kg(*arguments: str, vault: bool = True, show: int = 24) -> None:
    """Show a command and what it prints."""
    command(["vault-kg", *arguments])
    where = ["--vault", str(VAULT)] if vault else []
    run([*COMMAND, *where, *arguments], show=show, shown=False)


def ask(*arguments: str) -> str:
    """Run a command quietly and return what it prints."""
    done = subprocess.run(
        [*COMMAND, "--vault", str(VAULT), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def run(arguments: list[str], *, show: int = 24, shown: bool = True) -> None:
    """Run a command and show what it prints; progress goes to the terminal as it is."""
    if shown:
        command(arguments)
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\nthe demo expected this to work")
    output(done.stdout.rstrip(), show)


def without_empty(value: Any) -> Any:
    """Leave out null values and empty lists, to show what matters."""
    if isinstance(value, dict):
        kept = {k: without_empty(v) for k, v in value.items()}
        return {k: v for k, v in kept.items() if v not in (None, [], {})}
    return [without_empty(v) for v in value] if isinstance(value, list) else value


def title(text: str) -> None:
    """Begin a step."""
    print(f"\n{paint(f'── {text} ' + '─' * max(0, WIDTH - len(text) - 4), '1;36')}\n")


def say(text: str) -> None:
    """Explain."""
    print(textwrap.fill(text, WIDTH) + "\n")


def command(arguments: list[str]) -> None:
    """Show a command as it is typed, its paths short and long JSON cut."""
    text = shlex.join(arguments).replace(str(ROOT) + "/", "")
    print(paint("$ " + (text if len(text) < 260 else text[:257] + "…'"), "1"))


def output(text: str, show: int) -> None:
    """Show output, cut after some lines."""
    lines = text.replace(str(ROOT) + "/", "").splitlines()
    for line in lines[:show]:
        print("  " + line)
    if len(lines) > show:
        print(f"  … {len(lines) - show} more lines")
    print()


def paint(text: str, code: str) -> str:
    """Colour a text on a terminal."""
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


if __name__ == "__main__":
    main()
