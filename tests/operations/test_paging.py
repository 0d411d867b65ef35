"""Cursors: how much is asked for at a time may change, what is asked may not."""

from __future__ import annotations

from tests.operations.builder import VaultBox
from vault_kg.errors import InvalidArgument


def test_a_cursor_goes_on_with_another_number_of_rows_and_with_no_other_query(
    vault: VaultBox,
) -> None:
    hub, *others = (vault.page(title, "Decision") for title in ("One", "Two", "Three", "Four"))
    made = [vault.relationship(hub, other, "contradicts", f"Not {other}.") for other in others]
    first = vault.call("kg_find_contradictions", max_rows=1)
    rest = vault.call("kg_find_contradictions", max_rows=5, cursor=first["next_cursor"])
    found = [pair["edge_id"] for pair in first["pairs"] + rest["pairs"]]
    assert found == sorted(made) and rest["next_cursor"] is None
    refused = vault.refused("kg_find_contradictions", cursor=first["next_cursor"], node_id=hub)
    assert isinstance(refused, InvalidArgument) and "cursor" in refused.message
