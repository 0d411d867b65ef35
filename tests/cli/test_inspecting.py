"""`status`, `diagnostics`, `impact`."""

from __future__ import annotations


def test_status_says_what_there_is(vault_kg, vault) -> None:
    shown = vault_kg("status", cwd=vault.root).out
    assert str(vault.root) in shown
    assert "4 pages, 1 claim, 1 relationship, 1 note" in shown
    assert "up to date" in shown


def test_status_points_at_what_is_to_be_looked_at(vault_kg, vault) -> None:
    assert "vault-kg diagnostics" not in vault_kg("status", cwd=vault.root).out
    vault.path("ada").write_text("")
    shown = vault_kg("status").out
    assert "errors to look at: vault-kg diagnostics\n" in shown
    told = vault_kg("status", "--json").json
    assert told["findings"]["errors"] > 0 and told["nextSteps"][0]["run"] == "vault-kg diagnostics"
    first, *_ = vault_kg("diagnostics").out.splitlines()
    assert "record_lost_front_matter" in first and vault["ada"] in first


def test_the_name_of_an_emptied_file_shows_what_it_was(vault_kg, vault) -> None:
    path = vault.path("ada")
    path.write_text("")
    shown = vault_kg("show", str(path.relative_to(vault.root)), cwd=vault.root)
    assert shown.code == 0 and f"vault-kg restore {vault['ada']}" in shown.out


def test_diagnostics_names_path_line_and_what_to_do(vault_kg, vault) -> None:
    clean = vault_kg("diagnostics", cwd=vault.root)
    assert clean.out == "Nothing needs to be looked at.\n"
    (vault.root / "notes" / "dead.md").write_text("# Dead\n\n[[Nowhere at all]]\n")
    (vault.root / "main" / "pages" / "person" / "bad.md").write_text("---\nformat: [\n---\n")
    shown = vault_kg("diagnostics")
    assert shown.code == 0
    assert "notes/dead.md:3" in shown.out
    assert "main/pages/person/bad.md:" in shown.out
    only = vault_kg("diagnostics", "--section", "links").out
    assert "bad.md" not in only


def test_impact_lists_what_stands_on_a_record(vault_kg, vault) -> None:
    shown = vault_kg("impact", "Ada", cwd=vault.root).out
    assert vault["claim"] in shown
    assert "via owner" in shown
    assert vault_kg("impact", "Countess of Lovelace").out == "Nothing stands on it.\n"
