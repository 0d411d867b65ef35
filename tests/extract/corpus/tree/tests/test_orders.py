"""Tests: fixtures, patches by string, and assertions of a base class outside."""

import unittest
from unittest.mock import patch

import pytest

from shop.orders import Order, place
from shop.repository import Repository


@pytest.fixture  #> ext:pytest:fixture
def repository():
    return Repository.memory()  #> repository::Repository.memory


def test_place(repository):
    order = place(None, repository)  #> orders::place
    assert order.save()  #> orders::Order.save


class TestOrder(unittest.TestCase):  #> ext:unittest:TestCase
    def setUp(self):
        self.order = Order("x", None)  #> orders::Order

    def test_save(self):
        self.assertEqual(self.order.save(), 1)  #> ext:unittest:TestCase.assertEqual ; orders::Order.save
        self.helper()  #> test_orders::TestOrder.helper

    def helper(self):
        with patch("shop.orders.money"):  #> ext:unittest.mock:patch ; formatting::money
            self.order.notify()  #> orders::Order.notify


def test_total():
    with pytest.raises(ValueError):  #> ext:pytest:raises
        Order("x", None).total()  #> orders::Order ; orders::Order.total
