"""`status`, `diagnostics`, `impact`."""

from __future__ import annotations


def test_status_says_what_there_is(vault_kg, vault) -> None:
    shown = vault_kg("status", cwd=vault.root).out
    assert str(vault.root) in shown
    assert "4 pages, 1 claim, 1 relationship, 1 note" in shown
    assert "up to date" in shown


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
