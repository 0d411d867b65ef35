"""A page like one that was withdrawn is new, and whoever writes it is told (C42)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.builder import VaultBox


def warned(receipt: dict[str, Any]) -> list[str]:
    return [said for said in receipt["warnings"] or () if "was withdrawn" in said]


def save(vault: VaultBox, **more: Any) -> dict[str, Any]:
    values = {"type": "Decision", "title": "Secret Plan", **more}
    return vault.write("knowledge_save_page", **values)


def test_saving_again_what_was_withdrawn_says_which_when_and_why(vault: VaultBox) -> None:
    old = save(vault)["targetId"]
    assert warned(save(vault, title="Another Plan")) == []
    at = vault.withdraw(old, reason="we never do that")["publishedAt"]
    (said,) = warned(save(vault, title="secret  plan"))
    assert old in said and "we never do that" in said and at[:10] in said
    for other in ({"type": "Risk"}, {"title": "Secret Plans"}, {"partition": "other"}):
        assert warned(save(vault, **other)) == []


def test_of_several_the_last_is_named_and_all_are_counted(vault: VaultBox) -> None:
    for number in range(3):
        vault.withdraw(str(save(vault)["targetId"]), reason=f"no, for the time {number}")
    (said,) = warned(save(vault))
    assert "2 more" in said


def test_a_repeated_request_has_the_same_warning(vault: VaultBox) -> None:
    vault.withdraw(str(save(vault)["targetId"]))
    request = vault.new_request()
    first = save(vault, requestId=request)
    assert warned(first) and save(vault, requestId=request)["warnings"] == first["warnings"]


@pytest.mark.parametrize("kind", ["Person", "Entity"])
def test_asserting_again_what_was_withdrawn_says_so(vault: VaultBox, kind: str) -> None:
    asked = {"name": "Ada Lovelace", "kind": kind}
    old = vault.call("knowledge_assert_entity", **asked)
    assert warned(old) == []
    vault.withdraw(old["entity_uuid"], reason="nobody")
    new = vault.call("knowledge_assert_entity", **asked)
    assert new["entity_uuid"] != old["entity_uuid"]
    assert old["entity_uuid"] in warned(new)[0]
    assert warned(vault.call("knowledge_assert_entity", **asked)) == [], "it stands now"
