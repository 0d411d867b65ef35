"""Which widget each place is; imported when it is first entered."""

from __future__ import annotations

from importlib import import_module

from tui.places.base import PlaceView


def made(place: str, id: str) -> PlaceView:
    """Return the widget of a place."""
    module = import_module(f"tui.places.{place}")
    view: PlaceView = getattr(module, place.capitalize())(id=id)
    return view
