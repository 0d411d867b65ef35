"""Imports, aliases, conditional imports, modules as objects."""

import decimal
import os.path
import shop.formatting
import shop.formatting as fmt
from shop import models
from shop.models import Box as Carton, Item, Lid

from .web import pages as web_pages
from ..shop import compat

try:
    import orjson as fast
except ImportError:
    fast = None

try:
    from shop.compat import speedy as quick
except ImportError:
    from shop.compat import slow as quick


def discounted(item: Item, percent):
    item.line()  #> models::Item.line
    amount = decimal.Decimal(percent)  #> ext:decimal:Decimal
    amount.quantize(1)  #> ext:decimal:Decimal.quantize
    return shop.formatting.money(item.price)  #> formatting::money


def aliased():
    fmt.plain("x")  #> formatting::plain
    return fmt.money(fmt.label("EUR"))  #> formatting::money ; formatting::label


def from_package():
    models.make_box()  #> models::make_box
    return models.Box.Corner().fold()  #> models::Box.Corner ; models::Box.Corner.fold


def renamed():
    carton = Carton()  #> models::Box
    carton.open()  #> models::Box.open
    carton = Lid()  #> models::Lid
    carton.lift()  #> models::Lid.lift
    return carton


def optional():
    if fast is not None:
        return fast.dumps({})  #> ext:orjson:dumps
    return quick()  #> compat::speedy ; compat::slow


def inside():
    from shop.compat import only_here

    return only_here()  #> compat::only_here


def path_of():
    return os.path.join("a", "b")  #> ext:os:path.join


def pages():
    return web_pages.index()  #> pages::index


def parameter_of_same_name(models):
    return models.make_box()  #> -


def typed(box: models.Box, lid: "Lid | None" = None):
    box.open()  #> models::Box.open
    lid.lift()  #> models::Lid.lift
    return box.label.read()  #> models::Label.read


def union(thing: Item | Lid):
    return thing.lift()  #> models::Lid.lift


def compared(left: Item, right):
    left.title()  #> models::Item.title
    right.crease()  #> models::Box.Corner.crease
    right.append(left)  #> -
    return right.undefined_anywhere()  #> -


def through_compat():
    return compat.re_exported()  #> formatting::strip


def deep():
    return compat.Again().lift()  #> models::Lid ; models::Lid.lift


def annotated_local():
    boxes: list[Carton] = []
    for box in boxes:
        box.open()  #> models::Box.open
    by_name: dict[str, Lid] = {}
    by_name["x"].lift()  #> models::Lid.lift
    for name, lid in by_name.items():
        lid.lift()  #> models::Lid.lift
    for number, box in enumerate(boxes):
        box.total()  #> models::Box.total
    return [box.inherited() for box in boxes]  #> models::Box.inherited


def with_statement():
    with Lid() as lid:  #> models::Lid
        lid.lift()  #> models::Lid.lift


def matched(thing):
    match thing:
        case Item() as item:  #> models::Item
            return item.line()  #> models::Item.line
        case Lid():  #> models::Lid
            return thing.crease_again()  #> -
