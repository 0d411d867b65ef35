"""Frameworks, closures, callbacks; a module named like a function elsewhere."""

import click
from flask import Flask, request

import shop
from shop import Customer, Product, place, version
from shop.orders import Order, place_many as many

app = Flask(__name__)  #> ext:flask:Flask


@app.route("/")  #> ext:flask:Flask.route
def index():
    return version()  #> shop::version


@app.get("/orders")  #> ext:flask:Flask.get
def orders():
    order = place(request.user, None)  #> orders::place
    order.save()  #> orders::Order.save
    return many([])  #> orders::place_many


@click.command()  #> ext:click:command
@click.option("--name")  #> ext:click:option
def main(name):
    click.echo(name)  #> ext:click:echo
    Product(name, 1).line()  #> models::Item ; models::Item.line
    return shop.describe()  #> shop::describe


def through_package():
    shop.discounted(None, 1)  #> pricing::discounted
    shop.formatting.money(1)  #> formatting::money
    shop.Customer("x", None).pay()  #> models::Customer ; models::Customer.pay
    return shop.missing()  #> ext:shop:missing


def callbacks(button):
    def clicked():
        return index()  #> pages::index

    button.on_click(clicked)  #> pages::callbacks.clicked
    button.on_key(key=orders)  #> pages::orders
    return clicked  #> pages::callbacks.clicked


class View:
    order: Order

    def get(self):
        return self.order.chain()  #> orders::Order.chain

    def post(self, customer: Customer):
        customer.again()  #> models::Customer.again
        return self.get()  #> pages::View.get

    async def fetch(self):
        response = await self.load()  #> pages::View.load
        return response.save()  #> orders::Order.save

    async def load(self) -> Order:
        return place(None, None)  #> orders::place


if __name__ == "__main__":
    main()  #> pages::main
