"""Records in a visible partition about something hidden: to who does not see that, they are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import NotFound, VaultError
from vault_kg.operations.caller import Caller

PUB = Caller("pub", partitions=frozenset({"pub"}))
SECRET = "Zugzwang"


class Half(VaultBox):
    """A vault of which a caller sees the partition pub, with records there about what lies in sec."""

    def fill(self) -> None:
        self.cited = [{"source": self.source(partition="pub")}]
        self.hidden = self.page(SECRET, partition="sec")
        self.ada, self.bob = (self.page(name, partition="pub") for name in ("Ada", "Bob"))
        self.owned = self.claim(
            self.hidden, f"{SECRET} rules [[Bob]].", partition="pub", evidence=self.cited
        )
        self.joined = self.relationship(
            self.ada, self.hidden, fact=f"Ada plays {SECRET}.", partition="pub", evidence=self.cited
        )

    def of_pub(self, record_id: str, replacement: dict[str, Any]) -> dict[str, Any]:
        print_ = self.call("knowledge_ontology", partition="pub")["fingerprint"]
        return self.correction(record_id, replacement, expectedOntologyFingerprint=print_)


@pytest.fixture
def half(folder: Any, clock: Any) -> Any:
    box = Half(folder / "vault", clock)
    box.fill()
    yield box
    box.ws.close()


def tells_nothing(error: VaultError, record_id: str, hidden: str) -> None:
    assert isinstance(error, NotFound)
    assert error.message.startswith(f"there is no record {record_id}")
    told = json.dumps(error.to_dict())
    assert SECRET.lower() not in told.lower() and hidden not in told.replace(record_id, "")


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("which", ["owned", "joined"])
def test_such_a_record_is_not_changed_by_who_does_not_see_it(
    half: Half, which: str, stale: bool
) -> None:
    record = getattr(half, which)
    fence = half.fence(record) | ({"expectedRevision": 7} if stale else {})
    replacement = half.claim_values(half.ada, evidence=half.cited)
    if which == "joined":
        replacement = half.relationship_values(half.ada, half.bob, evidence=half.cited)
    pages = {"survivor": half.fence(half.ada), "absorbed": fence}
    for name, arguments in (
        ("knowledge_withdraw", fence | {"reason": "x"}),
        ("knowledge_correct", half.of_pub(record, replacement) | fence),
        ("knowledge_edit_body", fence | {"edits": [{"find": SECRET, "replace": "x"}]}),
        ("knowledge_save_page", fence | {"summary": "x"}),
        ("knowledge_merge", pages | {"reason": "x"}),
        ("knowledge_unmerge", fence | {"reason": "x"}),
    ):
        tells_nothing(half.refused(name, PUB, **arguments), record, half.hidden)
    tells_nothing(half.refused("knowledge_impact", PUB, id=record), record, half.hidden)


def test_a_receipt_says_to_each_caller_what_that_one_may_see(half: Half) -> None:
    unseen = half.claim(half.ada, f"{SECRET} beats Ada.", partition="sec")
    seen = half.claim(half.ada, "Ada plays.", partition="pub", evidence=half.cited)
    asked = half.fence(half.ada) | {"requestId": "w", "reason": "gone"}
    whole = half.write("knowledge_withdraw", **asked)
    assert {i["id"] for i in whole["impact"]["items"]} == {unseen, seen, half.joined}
    again = half.write("knowledge_withdraw", PUB, **asked)
    resumed = half.call("knowledge_resume", PUB, requestId="w")
    for receipt in (again, resumed["receipt"]):
        assert [i["id"] for i in receipt["impact"]["items"]] == [seen]
        assert receipt["impact"]["total"] == 1
        assert SECRET not in json.dumps(receipt) and unseen not in json.dumps(receipt)


def test_a_name_does_not_lead_to_a_hidden_replacement(half: Half) -> None:
    old = half.relationship(
        half.ada, half.bob, fact="They met.", title="Old fact", partition="pub", evidence=half.cited
    )
    new = half.relationship_values(
        half.ada, half.hidden, fact=f"{SECRET} met Ada.", title="New fact", evidence=half.cited
    )
    successor = half.write("knowledge_correct", **half.of_pub(old, new))["replacementId"]
    assert half.call("knowledge_lookup", text="Old fact")["record"]["id"] == successor
    with pytest.raises(NotFound) as caught:
        half.call("knowledge_lookup", PUB, text="Old fact")
    assert successor not in json.dumps(caught.value.to_dict())
    view = half.call("knowledge_get", PUB, id=old)
    assert (view["lifecycle"], view["supersededBy"], view["currentId"]) == (
        "superseded",
        None,
        None,
    )
    past = half.call("knowledge_get", PUB, id=old, revision=view["revision"])
    assert past["supersededBy"] is None
    assert half.call("knowledge_get", id=old)["supersededBy"] == successor
    entry = half.call("knowledge_activity", PUB)["entries"][0]
    assert (entry["targetId"], entry["replacementId"]) == (old, None)
    assert half.call("knowledge_activity")["entries"][0]["replacementId"] == successor
    for name, more in (("knowledge_correct", half.of_pub(old, new)),
                       ("knowledge_edit_body", {**half.fence(old), "edits": []})):  # fmt: skip
        refused = half.refused(name, PUB, **more)
        assert successor not in json.dumps(refused.to_dict())


def test_what_links_from_such_a_record_is_not_counted(half: Half) -> None:
    assert half.call("knowledge_impact", PUB, id=half.bob)["items"] == []
    assert half.call("knowledge_get", PUB, id=half.bob)["backlinks"] == 0
    assert half.call("knowledge_get", id=half.bob)["backlinks"] == 1
    assert [i["id"] for i in half.call("knowledge_impact", id=half.bob)["items"]] == [half.owned]


def test_a_finding_in_its_file_is_not_told(half: Half) -> None:
    half.claim(half.hidden, "It names [[Nowhere]].", partition="pub", evidence=half.cited)
    half.page("Own", partition="pub", body="It names [[Nothing]].")
    half.scan()
    told = half.call("knowledge_diagnostics", PUB, section="links")
    assert ["Nothing" in f["message"] for f in told["findings"]] == [True] and told["total"] == 1
    assert half.call("knowledge_diagnostics", section="links")["total"] == 2


def test_it_is_not_there_without_its_file_either(half: Half) -> None:
    path = half.path(half.owned)
    gone = half.page("Gone", partition="pub")
    for each in (path, half.path(gone)):
        each.unlink()
    half.scan()
    for name in ("get", "history", "connections", "impact"):
        with pytest.raises(NotFound) as caught:
            half.call(f"knowledge_{name}", PUB, id=half.owned)
        tells_nothing(caught.value, half.owned, half.hidden)
    told = [half.call("knowledge_activity", PUB), half.call("knowledge_diagnostics", PUB)]
    assert half.owned not in json.dumps(told) and SECRET.lower() not in json.dumps(told).lower()
    assert gone in json.dumps(told[1])
    assert half.owned in json.dumps(half.call("knowledge_diagnostics"))


def test_of_the_time_when_it_was_hidden_nothing_is_told(half: Half) -> None:
    moved = half.page("Moved", partition="sec", body=f"{SECRET} draft.")
    half.change(moved, body="For everybody.")
    target = half.root / "pub/pages/person/moved.md"
    half.path(moved).rename(target)
    half.scan()
    half.change(moved, summary="Short.")
    with pytest.raises(NotFound) as caught:
        half.call("knowledge_get", PUB, id=moved, revision=1)
    tells_nothing(caught.value, moved, half.hidden)
    shown = half.call("knowledge_history", PUB, id=moved, diff=True)
    whole = half.call("knowledge_history", id=moved, diff=True)
    assert SECRET in json.dumps(whole) and SECRET not in json.dumps(shown)
    assert shown["count"] == shown["total"] < whole["total"]
    assert all(r["path"].startswith("pub/") for r in shown["revisions"])
    assert half.call("knowledge_get", PUB, id=moved)["body"] == "For everybody."
