"""A record whose file was deleted: by id and by name it is said where it was and what to do."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import MissingFile, NotFound
from vault_kg.operations.caller import Caller


@pytest.fixture
def ada(vault: VaultBox) -> str:
    found = vault.page("Ada Lovelace", aliases=["Enchantress", "wikidata:q7259"])
    vault.path(found).unlink()
    return found


NAMES = ["Ada Lovelace", "ada  lovelace", "Enchantress", "wikidata:q7259", "ada-lovelace",
         "main/pages/person/ada-lovelace.md", "main/pages/person/ada-lovelace"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scanned", [True, False])
def test_by_any_of_its_names_it_is_missing(
    vault: VaultBox, ada: str, name: str, scanned: bool
) -> None:
    if scanned:
        vault.scan()
    with pytest.raises(MissingFile) as caught:
        vault.call("knowledge_lookup", text=name)
    refused = caught.value
    assert refused.data["id"] == ada
    assert refused.data["path"] == "main/pages/person/ada-lovelace.md"
    assert refused.data["path"] in refused.message
    assert f"vault-kg restore {ada}" in refused.message
    assert refused.to_dict() == vault.refused("knowledge_get", id=ada).to_dict()


def test_what_the_message_says_brings_it_back(vault: VaultBox, ada: str) -> None:
    vault.scan()
    assert isinstance(vault.refused("knowledge_lookup", text="Ada Lovelace"), MissingFile)
    vault.write("knowledge_restore", id=ada)
    assert vault.lookup("Ada Lovelace") == ada


def test_another_record_of_that_name_is_what_it_means(vault: VaultBox, ada: str) -> None:
    vault.scan()
    again = vault.page("Ada Lovelace")
    assert vault.lookup("Ada Lovelace") == again


def test_another_name_type_or_partition_is_nothing(vault: VaultBox, ada: str) -> None:
    vault.scan()
    for text, more in (("Ada", {}), ("Ada Lovelace", {"type": "Company"})):
        assert isinstance(vault.refused("knowledge_lookup", text=text, **more), NotFound)
    outside = Caller("guest", partitions=frozenset({"other"}))
    assert isinstance(vault.refused("knowledge_lookup", outside, text="Ada Lovelace"), NotFound)


def test_what_was_withdrawn_before_is_not_missing(vault: VaultBox) -> None:
    ada = vault.page("Ada Lovelace")
    vault.withdraw(ada)
    vault.path(ada).unlink()
    vault.scan()
    assert isinstance(vault.refused("knowledge_lookup", text="Ada Lovelace"), NotFound)
