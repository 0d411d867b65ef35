"""What is read of a vault whose state was lost and recovered from Git and the files."""

from __future__ import annotations

from tests.operations.builder import VaultBox
from tui.desk import Desk
from tui.places import recent
from vault_kg.operations import care
from vault_kg.operations.caller import Caller

MAIN = Caller("c", partitions=frozenset({"main"}))


def lose(vault: VaultBox) -> list[str]:
    """Lose the state and recover it; returns what could not be proved."""
    vault.ws.close()
    for left in (vault.root / ".vault-kg").glob("state.sqlite*"):
        left.unlink()
    told = care.recover(vault.root)
    vault.reopen()
    vault.scan()
    return list(told["unproven"])


def test_what_happened_lately_is_told_as_before(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    vault.page("Zugzwang", partition="secret")
    vault.withdraw(claim)
    told = ("seq", "operation", "label", "targetId", "touched", "touchedTotal", "state", "git")
    for caller in (Caller("all"), MAIN):
        before = vault.call("knowledge_activity", caller)
        assert len(before["entries"]) == (5 if caller.partitions is None else 4)
        lose(vault)
        after = vault.call("knowledge_activity", caller)
        assert after["count"] == before["count"] and after["position"] == before["position"]
        for was, is_now in zip(before["entries"], after["entries"], strict=True):
            assert {k: is_now[k] for k in told} == {k: was[k] for k in told}


def test_the_feed_of_the_terminal_is_read(vault: VaultBox) -> None:
    vault.claim(vault.page())
    lose(vault)
    vault.ws.close()
    desk = Desk(vault.root)
    try:
        items = recent.read_feed(desk, None, 10).items
        assert [item.key for item in items] == ["entry-3", "entry-2", "entry-1"]
    finally:
        desk.stop()


def test_a_pair_that_a_person_declined_is_not_proposed_again(vault: VaultBox) -> None:
    first, second, _ = (vault.page("Same name") for _ in range(3))
    declined = frozenset((first, second))
    vault.call("knowledge_decline_merge", first=second, second=first, reason="two people")
    pairs = vault.candidates()
    assert declined not in pairs and len(pairs) == 2
    assert lose(vault) == []
    assert vault.candidates() == pairs
    entry = vault.call("knowledge_activity")["entries"][0]
    assert (entry["operation"], entry["reason"]) == ("knowledge_decline_merge", "two people")
    assert entry["label"] == "Same name is not Same name" and entry["git"]["state"] == "committed"


def test_declining_is_idempotent_by_its_request_and_by_its_pair(vault: VaultBox) -> None:
    pair = {"first": vault.page("Same"), "second": vault.page("same")}
    for request in ("d", "d", "e"):
        vault.write("knowledge_decline_merge", requestId=request, reason="two", **pair)
    assert vault.candidates() == set()
    assert len(vault.git("log", "--format=%(trailers:key=Vault-Decline)").split()) == 2
