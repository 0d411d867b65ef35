"""Decorators with and without arguments, registries, class decorators, metaclasses."""

import functools


def retry(times):
    def decorate(function):
        @functools.wraps(function)  #> ext:functools:wraps
        def wrapper(*args):
            return function(*args)  #> -

        return wrapper  #> base::retry.decorate.wrapper

    return decorate  #> base::retry.decorate


def traced(function):
    return function


class Meta(type):
    def build(cls):
        return cls()  #> base::Meta


class Plugin(metaclass=Meta):  #> base::Meta
    def activate(self):
        return self.configure()  #> base::Plugin.configure

    @retry(3)  #> base::retry
    def configure(self, mode=0):
        return _normalise(mode)  #> base::_normalise

    @traced  #> base::traced
    @retry(times=2)  #> base::retry
    def both(self):
        return self.activate  #> base::Plugin.activate


def _normalise(mode):
    return int(mode)  #> -


@traced  #> base::traced
class Extra(Plugin):  #> base::Plugin
    mode = _normalise(1)  #> base::_normalise

    def configure(self, mode=0):
        return super().configure(mode)  #> base::Plugin.configure

    def hook(self):
        return [self.activate, self.both]  #> base::Plugin.activate ; base::Plugin.both


registry = {"plugin": Plugin, "extra": Extra}  #> base::Plugin ; base::Extra


def build(name):
    return registry[name]()  #> base::Plugin ; base::Extra


def build_and_run(name):
    return build(name).activate()  #> base::build ; base::Plugin.activate
