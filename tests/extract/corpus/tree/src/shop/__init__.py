"""A shop, as far as a shop is needed to call one thing from another."""

from .models import Customer, Item as Product
from .orders import *
from .pricing import discounted
from . import formatting

__all__ = ["Customer", "Product", "discounted", "formatting"]


def version():
    return formatting.plain("1.0")  #> formatting::plain


def describe():
    return discounted(Product("tea", 2), 10)  #> pricing::discounted ; models::Item
