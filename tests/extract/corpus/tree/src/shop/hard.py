"""What static reading easily gets wrong: replaced methods, narrowing, delegation, partial, registries."""

from __future__ import annotations

import functools
import threading
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

from shop import formatting, models
from shop.models import Box, Item, Lid, Named
from shop.repository import Repository, Session

N = TypeVar("N", bound=Named)  #> ext:typing:TypeVar ; models::Named


class Saves(Protocol):  #> ext:typing:Protocol
    def save(self, thing): ...


class Wrapper:
    save_all = formatting.plain  #> formatting::plain

    def __init__(self, inner: Repository):
        self.inner = inner
        self.open = self._open_later  #> hard::Wrapper._open_later
        self.begin = inner.session.begin  #> repository::Session.begin

    def _open_later(self):
        return self.inner.save(1)  #> repository::Repository.save

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def open(self):
        return None

    def use(self):
        self.open()  #> hard::Wrapper._open_later
        self.begin()  #> repository::Session.begin
        self.delete(1)  #> repository::Repository.delete
        return self.save_all("x")  #> formatting::plain


def narrowed(thing):
    if isinstance(thing, Lid):  #> models::Lid
        thing.lift()  #> models::Lid.lift
    elif isinstance(thing, (Box, Item)):  #> models::Box ; models::Item
        thing.line()  #> models::Item.line
    return thing


def partial():
    later = functools.partial(formatting.money, currency="x")  #> ext:functools:partial ; formatting::money
    return later(1)  #> formatting::money


def thread():
    worker = threading.Thread(target=formatting.euro)  #> ext:threading:Thread ; formatting::euro
    worker.start()  #> ext:threading:Thread.start
    return worker


def protocol(store: Saves, thing):
    store.save(thing)  #> hard::Saves.save
    return thing


def bound(thing: N) -> N:
    thing.title()  #> models::Named.title
    return thing


Pair = namedtuple("Pair", "lid box")  #> ext:collections:namedtuple


class Typed(NamedTuple):  #> ext:typing:NamedTuple
    lid: Lid
    box: Box


def unpacked(pair: Typed):
    lid, box = pair
    lid.lift()  #> models::Lid.lift
    pair.box.open()  #> models::Box.open
    pair.lid.lift()  #> models::Lid.lift
    first = Pair(1, 2)
    return first.lid.lift_nothing()  #> -


class Mode(Enum):  #> ext:enum:Enum
    FAST = "fast"
    SLOW = "slow"

    def run(self):
        return self.other()  #> hard::Mode.other

    def other(self):
        return Mode.FAST.run()  #> hard::Mode.run


@functools.singledispatch  #> ext:functools:singledispatch
def render(value):
    return formatting.plain(value)  #> formatting::plain


@render.register
def _(value: Item):
    return value.line()  #> models::Item.line


def renders():
    return render(Item("x", 1))  #> hard::render ; models::Item


@dataclass  #> ext:dataclasses:dataclass
class Settings:
    session: Session = field(default_factory=Session)  #> ext:dataclasses:field ; repository::Session
    lids: list[Lid] = field(default_factory=list)  #> ext:dataclasses:field
    any: Any = None

    def use(self):
        self.session.begin().end()  #> repository::Session.begin ; repository::Session.end
        self.any.begin()  #> -
        return [lid.lift() for lid in self.lids]  #> models::Lid.lift


def closure(box: Box):
    count = 0

    def inner():
        nonlocal count
        count += 1
        return box.open()  #> models::Box.open

    def outer(box):
        return box.crease()  #> -

    return inner() or outer(None)  #> hard::closure.inner ; hard::closure.outer


def replaced():
    box = Box()  #> models::Box
    for box in [Lid()]:  #> models::Lid
        box.lift()  #> models::Lid.lift
    with open("x") as box:
        box.read()  #> -
    return box


def conditional(flag):
    thing = Lid() if flag else Box()  #> models::Lid ; models::Box
    if flag:
        thing.lift()  #> models::Lid.lift
    else:
        thing.open()  #> models::Box.open
    return thing


def several(flag):
    if flag == 1:
        thing = Session()  #> repository::Session
    elif flag == 2:
        thing = Repository()  #> repository::Repository
    else:
        thing = None
    return thing.end()  #> repository::Session.end


def patched(monkeypatch):
    monkeypatch.setattr(formatting, "plain", lambda text: text)  #> formatting
    monkeypatch.setattr("shop.formatting.euro", None)  #> formatting::euro
    return monkeypatch.undo_all()  #> -


def from_getattr(name):
    method = getattr(formatting, name)  #> formatting
    return method("x")  #> -


def default(item=Item("x", 1), make=Lid):  #> models::Item ; models::Lid
    item.line()  #> models::Item.line
    return make().lift()  #> models::Lid ; models::Lid.lift


class Left:
    def who(self):
        return 1


class Right:
    def who(self):
        return 2

    def only_right(self):
        return self.who()  #> hard::Right.who


class Both(Left, Right):  #> hard::Left ; hard::Right
    def ask(self):
        self.only_right()  #> hard::Right.only_right
        return self.who()  #> hard::Left.who


class Plugin:
    """Not the plugin of another module."""

    def activate(self):
        return Both().ask()  #> hard::Both ; hard::Both.ask


def activate(plugin: Plugin, other):
    plugin.activate()  #> hard::Plugin.activate
    other.only_right()  #> hard::Right.only_right
    return other.who()  #> -


def swapped(one: Lid, other: Box):
    one, other = other, one
    one.open()  #> models::Box.open
    return other.lift()  #> models::Lid.lift


def generator(boxes: list[Box]):
    lids = (box.lid for box in boxes)
    for lid in lids:
        lid.lift()  #> models::Lid.lift
    yield from (box.open() for box in boxes)  #> models::Box.open


def sliced(boxes: list[Box], index: dict[str, list[Lid]]):
    boxes[1:].append(None)  #> -
    boxes[0].open()  #> models::Box.open
    for lid in index["x"]:
        lid.lift()  #> models::Lid.lift
    return next(iter(boxes)).open()  #> models::Box.open


def by_operator(left: Item, right):
    total = left + right
    return total.line_nothing()  #> -


def lambdas():
    table = {"a": lambda box: box.open(), "b": formatting.euro}  #> formatting::euro ; models::Box.open
    table["a"](Box())  #> models::Box
    return table["b"](1)  #> formatting::euro


def through_module(name):
    return vars(models)[name]()  #> models


plain = functools.wraps(formatting.plain)(formatting.strip)  #> ext:functools:wraps ; formatting::plain ; formatting::strip


def uses_wrapped():
    return plain("x")  #> formatting::strip
