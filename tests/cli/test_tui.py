"""`tui`: only in a terminal, only in a vault; what it shows is tested with the UI."""

from __future__ import annotations

import sys


def test_without_a_terminal_it_says_what_to_use_instead(vault_kg, vault) -> None:
    done = vault_kg("tui", cwd=vault.root)
    assert done.code == 2
    assert "needs a terminal" in done.err


def test_without_a_vault_it_says_how_to_make_one(vault_kg, tmp_path) -> None:
    done = vault_kg("tui", cwd=tmp_path)
    assert done.code == 3
    assert "vault-kg init" in done.err


def test_the_browser_needs_an_extra(vault_kg, vault, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "tui.web", raising=False)
    done = vault_kg("tui", "--web", cwd=vault.root)
    assert done.code == 1
    assert "pip install 'vault-kg[web]'" in done.err
