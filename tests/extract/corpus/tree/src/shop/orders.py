"""Typed attributes, instance variables, inheritance across files, dict dispatch."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Callable, Self

from .formatting import money
from .models import Box, Customer, Item, Named, Square
from .repository import Repository, connect

if TYPE_CHECKING:
    from .mailer import Mailer


class Order(Named):  #> models::Named
    repository: Repository
    mailer: Mailer

    def __init__(self, name, repository: Repository, mailer=None):
        super().__init__(name)  #> models::Named.__init__
        self.repository = repository
        self.items: list[Item] = []
        self.box = Box()  #> models::Box
        self.log = connect()  #> repository::connect
        self.callback = mailer

    def add(self, item: Item) -> Self:
        self.items.append(item)  #> -
        self.box.total(item)  #> models::Box.total
        return self

    def save(self):
        self.repository.save(self)  #> repository::Repository.save
        self.repository.session.begin()  #> repository::Session.begin
        self.log.begin()  #> repository::Session.begin
        return self.title()  #> models::Named.title

    def notify(self):
        self.mailer.send(self)  #> mailer::Mailer.send
        self.callback(self)  #> -
        self.mailer.queue.push(1)  #> mailer::Queue.push

    def total(self):
        return sum(item.parse(1) for item in self.items)  #> models::Item.parse

    def chain(self):
        return self.add(None).save()  #> orders::Order.add ; orders::Order.save

    def remember(self):
        super().remember()  #> models::Named.remember
        self.save()  #> orders::Order.save

    def __len__(self):
        return len(self.items)  #> -


class Rush(Order):  #> orders::Order
    def save(self):
        result = super().save()  #> orders::Order.save
        self.notify()  #> orders::Order.notify
        self.rename("rush")  #> models::Named.rename
        self.box.open()  #> models::Box.open
        return result


class Sample(Square, Order):  #> models::Square ; orders::Order
    def both(self):
        self.area()  #> models::Square.area
        return self.notify()  #> orders::Order.notify


def place(customer: Customer, repository: Repository) -> Order:
    order = Order(customer.name, repository)  #> orders::Order
    order.add(Item("x", 1)).save()  #> models::Item ; orders::Order.save ; orders::Order.add
    customer.basket.open()  #> models::Box.open
    customer.pay()  #> models::Customer.pay
    return order


def place_many(customers: list[Customer]):
    orders = [place(customer, connect()) for customer in customers]  #> orders::place ; repository::connect
    for order in orders:
        order.save()  #> orders::Order.save
    return place(customers[0], None).chain()  #> orders::place ; orders::Order.chain


def cancel(order: Order, reason):
    order.repository.delete(order)  #> repository::Repository.delete
    return money(reason)  #> formatting::money


def refund(order: Order, reason):
    return order.total()  #> orders::Order.total


ACTIONS: dict[str, Callable] = {"cancel": cancel, "refund": refund}  #> orders::cancel ; orders::refund
HANDLERS = {
    "place": place,  #> orders::place
    "cancel": cancel,  #> orders::cancel
}
STEPS = [cancel, refund]  #> orders::cancel ; orders::refund


def act(name, order):
    return HANDLERS[name](order, None)  #> orders::place ; orders::cancel


def run_steps(order):
    for step in STEPS:
        step(order, None)  #> orders::cancel ; orders::refund


counts = defaultdict(int)  #> ext:collections:defaultdict
default_order = Order("x", connect())  #> orders::Order ; repository::connect


def use_default():
    default_order.save()  #> orders::Order.save
    return default_order.repository.save(None)  #> repository::Repository.save


def register(function):
    HANDLERS[function.__name__] = function
    return function


@register  #> orders::register
def audit(order: Order):
    return order.chain()  #> orders::Order.chain


def untyped(order):
    order.notify()  #> orders::Order.notify
    order.save()  #> orders::Order.save
    order.shown()  #> -
    return order.get("x")  #> -
