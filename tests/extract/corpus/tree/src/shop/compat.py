"""Re-exports, names brought by nothing, and a name defined twice."""

from shop.formatting import strip as re_exported
from shop.models import Lid as Again

if True:
    FLAG = 1


def speedy():
    return slow()  #> compat::slow


def slow():
    return FLAG


def only_here():
    return _("text")  #> ext::_


def global_name():
    global created
    created = Again()  #> models::Lid
    return created


def uses_global():
    return created.lift()  #> models::Lid.lift


def string_path():
    return load("shop.formatting.money")  #> formatting::money ; compat::load


def load(path):
    return __import__(path)  #> -


def not_a_path():
    return load("e.g.this.is.text")  #> compat::load


def attribute_of_result():
    return load("shop.models:Box").open()  #> models::Box ; compat::load


def reassigned():
    handler = speedy  #> compat::speedy
    handler = slow  #> compat::slow
    return handler()  #> compat::slow


def one_branch(flag):
    handler = speedy  #> compat::speedy
    if flag:
        handler = flag
    return handler()  #> compat::speedy


def deleted():
    return created
