"""Classes: self, cls, super, properties, overloaded names, nested classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Optional

from shop.formatting import money, plain as cleaned


class Named:
    registry: ClassVar[dict] = {}

    def __init__(self, name):
        self.name = cleaned(name)  #> formatting::plain
        self.remember()  #> models::Named.remember

    def remember(self):
        Named.registry[self.title()] = self  #> models::Named.title ; models::Named

    def title(self):
        return self.name

    def rename(self, name):
        self.name = name
        return self

    @classmethod
    def of(cls, name):
        found = cls(name)  #> models::Named
        cls.check(found)  #> models::Named.check
        return found

    @staticmethod
    def check(value):
        return cleaned(value)  #> formatting::plain


class Item(Named):  #> models::Named
    def __init__(self, name, price):
        super().__init__(name)  #> models::Named.__init__
        self.price = price

    @property
    def shown(self):
        return money(self.price)  #> formatting::money

    @shown.setter
    def shown(self, value):
        self.price = self.parse(value)  #> models::Item.parse

    def parse(self, value):
        return float(value)  #> -

    def title(self):
        return super().title().upper()  #> models::Named.title

    def twice(self):
        return self.rename("x").title()  #> models::Named.rename ; models::Item.title

    def line(self):
        return f"{self.title()} {self.shown}"  #> models::Item.title ; models::Item.shown


class Box(Item):  #> models::Item
    def __init__(self, *items: Item):
        self.items = list(items)
        self.lid: Optional[Lid] = None
        self.label = Label(self)  #> models::Label

    def open(self):
        if self.lid is not None:
            self.lid.lift()  #> models::Lid.lift
        return self.label.read()  #> models::Label.read

    def total(self, *items: Item):
        for item in items:
            item.line()  #> models::Item.line
        return self.twice()  #> models::Item.twice

    def inherited(self):
        self.remember()  #> models::Named.remember
        return self.line()  #> models::Item.line

    class Corner:
        def fold(self):
            return self.crease()  #> models::Box.Corner.crease

        def crease(self):
            return Lid()  #> models::Lid


class Lid:
    def lift(self):
        return Box.Corner().fold()  #> models::Box.Corner.fold ; models::Box.Corner


class Label:
    def __init__(self, box: Box) -> None:
        self.box = box

    def read(self):
        return self.box.total()  #> models::Box.total

    def write(self, box: "Box"):
        box.open()  #> models::Box.open
        self.box.lid.lift()  #> models::Lid.lift


@dataclass  #> ext:dataclasses:dataclass
class Customer:
    name: str
    basket: Box
    history: list[Item] = field(default_factory=list)  #> ext:dataclasses:field

    def pay(self):
        return self.basket.open()  #> models::Box.open

    def again(self):
        for item in self.history:
            item.line()  #> models::Item.line
        return self.history[0].title()  #> models::Item.title

    def greet(self):
        return self.name.upper()  #> -


class Shape(ABC):  #> ext:abc:ABC
    @abstractmethod  #> ext:abc:abstractmethod
    def area(self): ...

    def shown(self):
        return money(self.area())  #> formatting::money ; models::Shape.area


class Square(Shape):  #> models::Shape
    def area(self):
        return 1


def largest(shapes: list[Shape]) -> Shape:
    return max(shapes, key=lambda shape: shape.area())  #> -


def first_area(shapes: list[Shape]):
    return largest(shapes).area()  #> models::largest ; models::Shape.area


def make_box() -> Box:
    return Box()  #> models::Box


def opened():
    box = make_box()  #> models::make_box
    box.open()  #> models::Box.open
    return make_box().label.read()  #> models::make_box ; models::Label.read


def inferred():
    return Square()  #> models::Square


def measured():
    return inferred().area()  #> models::inferred ; models::Square.area


if hasattr(money, "x"):  #> formatting::money

    def either():
        return Lid()  #> models::Lid

else:

    def either():
        return Label(None)  #> models::Label


def uses_either():
    return either()  #> models::either
