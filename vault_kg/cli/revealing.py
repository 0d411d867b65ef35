"""What a terminal would obey, hide or reorder is shown instead, so that no two texts look alike.

`␛` stands for an escape, `⟦U+202E⟧` for a bidirectional override. The command line and the UI show
text from records so; JSON has it as it is.
"""

from __future__ import annotations

import re
from typing import Any

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
    "\U0001d173-\U0001d17a\ud800-\udfff]"
)
_ABOVE = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_STACKED = re.compile(f"({_ABOVE}{{5}}){_ABOVE}+")


def reveal(text: Any) -> str:
    """Return a text with everything shown that a terminal would not show as it is.

    Tabs and line breaks stay; those of Windows become plain ones.
    """
    return _STACKED.sub(r"\1⟦…⟧", _HIDDEN.sub(_visible, str(text).replace("\r\n", "\n")))


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟦U+{code:04X}⟧"
