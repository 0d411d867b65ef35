"""Same-file calls, nested functions, shadowed names and strings."""

import functools
import json
from textwrap import dedent as unindent


def plain(text):
    return strip(text)  #> formatting::strip


def strip(text):
    return text.strip()  #> -


def money(amount, currency="EUR"):
    def padded(value):
        return plain(str(value)).rjust(8)  #> formatting::plain

    def signed(value):
        return padded(value) if value >= 0 else "-" + padded(-value)  #> formatting::money.padded

    return f"{signed(amount)} {label(currency)}"  #> formatting::money.signed ; formatting::label


def label(code):
    return TABLE.get(code, unknown)(code)  #> formatting::euro ; formatting::pound ; formatting::unknown


def euro(code):
    return "€"


def pound(code):
    return "£"


def unknown(code):
    return code


TABLE = {
    "EUR": euro,  #> formatting::euro
    "GBP": pound,  #> formatting::pound
}


def shadowed(strip):
    return strip("x")  #> -


def local_shadow():
    plain = lambda text: text
    return plain("x")  #> -


def loop_shadow(things):
    for label in things:
        label("x")  #> -
    return [money for money in things if money()]  #> -


def as_json(value):
    return json.dumps(value, default=plain)  #> ext:json:dumps ; formatting::plain


def as_text(value):
    return unindent(value)  #> ext:textwrap:dedent


@functools.lru_cache  #> ext:functools:lru_cache
def cached(value):
    return euro(value)  #> formatting::euro


def mapped(values):
    return list(map(plain, values))  #> formatting::plain


def sorted_by(values):
    return sorted(values, key=euro)  #> formatting::euro


def chained(values):
    return max((money(v) for v in values), key=len)  #> formatting::money


def via_lambda():
    return lambda value: pound(value)  #> formatting::pound


def recursive(depth):
    return depth if depth == 0 else recursive(depth - 1)


def deferred():
    handler = euro  #> formatting::euro
    return handler("x")  #> formatting::euro


def chosen(flag):
    handler = euro if flag else pound  #> formatting::euro ; formatting::pound
    return handler("x")  #> formatting::euro ; formatting::pound


def listed():
    for step in (strip, plain):  #> formatting::strip ; formatting::plain
        step("x")  #> formatting::strip ; formatting::plain


def rebound_later(text):
    text = plain(text)  #> formatting::plain
    text = text.strip()  #> -
    return text


def walrus(values):
    if (found := pound(values)) is not None:  #> formatting::pound
        return found
    return None


try:
    unknown("x")  #> formatting::unknown
finally:
    pass
