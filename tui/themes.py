"""The themes of the UI; Textual's own can be chosen beside them."""

from __future__ import annotations

from textual.theme import Theme

NIGHT = Theme(
    name="vault-night", primary="#7aa2c8", secondary="#9fb58a", accent="#d6a65c",
    warning="#d6a65c", error="#d9776f", success="#9fb58a", foreground="#d8dbe0",
    background="#14171b", surface="#1a1e24", panel="#2a303a", dark=True,
    variables={"footer-key-foreground": "#d6a65c", "block-cursor-text-style": "none"},
)  # fmt: skip

PAPER = Theme(
    name="vault-paper", primary="#2f5d8a", secondary="#50702f", accent="#8a5a12",
    warning="#8a5a12", error="#a3322a", success="#50702f", foreground="#22252a",
    background="#f7f5ef", surface="#efece3", panel="#dcd7c9", dark=False,
    variables={"footer-key-foreground": "#8a5a12", "block-cursor-text-style": "none"},
)  # fmt: skip

CONTRAST = Theme(
    name="vault-contrast", primary="#ffff00", secondary="#00ffff", accent="#ffff00",
    warning="#ffff00", error="#ff8080", success="#80ff80", foreground="#ffffff",
    background="#000000", surface="#000000", panel="#404040", dark=True,
    variables={"block-cursor-foreground": "#000000", "block-cursor-background": "#ffff00"},
)  # fmt: skip

OURS = (NIGHT, PAPER, CONTRAST)
