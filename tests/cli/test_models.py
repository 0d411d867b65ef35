"""`models`: list, verify, remove; fetching is tested with the embedding package."""

from __future__ import annotations


def test_models_are_listed_verified_and_removed(vault_kg, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VAULT_KG_CACHE", str(tmp_path / "cache"))
    listed = vault_kg("models", cwd=tmp_path)
    assert listed.code == 0
    rows = [line.split() for line in listed.out.splitlines()]
    assert ["all-minilm-l6-v2", "available"] in [row[:2] for row in rows]
    assert vault_kg("models", "list", "--json").json["models"][0]["state"] == "available"
    folder = tmp_path / "cache" / "models"
    folder.mkdir(parents=True)
    (folder / "mine.gguf").write_bytes(b"GGUF?")
    verified = vault_kg("models", "verify", "--json")
    assert verified.code == 1
    assert "no note of its checksum" in verified.json["models"][0]["problem"]
    assert vault_kg("models", "remove", "mine").code == 0
    gone = vault_kg("models", "remove", "mine", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (1, "not_found")


def test_a_file_that_is_no_model_is_not_added(vault_kg, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VAULT_KG_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "x.gguf"
    file.write_bytes(b"nothing of the sort")
    done = vault_kg("models", "add", file, cwd=tmp_path)
    assert done.code in (1, 3)
    assert done.err.startswith("vault-kg: ")


def test_the_shared_options_may_stand_behind_a_subcommand_of_models(
    vault_kg, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("VAULT_KG_CACHE", str(tmp_path / "cache"))
    before = vault_kg("--vault", tmp_path, "models", "list", "--json")
    behind = vault_kg("models", "list", "--vault", tmp_path, "--actor", "ada", "--json")
    assert (before.code, behind.code) == (0, 0)
    assert behind.json == before.json
    for name in ("fetch", "add", "verify", "remove"):
        assert "--vault DIR" in vault_kg("models", name, "--help").out
