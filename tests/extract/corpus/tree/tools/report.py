"""Scripts: modules beside the script, lures of the same name in other folders."""

import json
import helpers
from helpers import tidy
from util import slugify
import shop.orders as o


def report(rows):
    helpers.tidy(rows)  #> helpers::tidy
    tidy(rows)  #> helpers::tidy
    slugify("x")  #> util::slugify
    o.place(None, None).save()  #> orders::place ; orders::Order.save
    return json.dumps(rows)  #> ext:json:dumps


def lures(row):
    row.slugify()  #> -
    row.activate_now()  #> -
    plain = row.plain
    return plain()  #> -


class Report:
    rows = []

    def save(self):
        return report(self.rows)  #> report::report

    def notify(self, money):
        return money(self)  #> -


def comprehension(report):
    return [report(r) for r in report]  #> -


def try_report():
    try:
        return report([])  #> report::report
    except helpers.Broken as report_error:  #> helpers::Broken
        return report_error.tidy()  #> -


del lures  #> report::lures
