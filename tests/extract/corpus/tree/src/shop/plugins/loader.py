import importlib

from shop import plugins
from shop.plugins import Plugin, base
from . import base as base_module


def load_all(names):
    for name in names:
        module = importlib.import_module(name)  #> ext:importlib:import_module
        module.activate()  #> -
    return [base.build(name) for name in names]  #> base::build


def reload(plugin: Plugin):
    plugin.activate()  #> base::Plugin.activate
    plugins.load([])  #> loader::load_all
    return base_module.Extra().hook()  #> base::Extra ; base::Extra.hook


def lazily():
    from shop.plugins import registry

    return registry["extra"]().hook()  #> base::Extra.hook


class Loader:
    plugin: type[Plugin]

    def __init__(self):
        self.plugin = Plugin  #> base::Plugin
        self.loaded: dict[str, Plugin] = {}

    def make(self):
        made = self.plugin()  #> base::Plugin
        made.activate()  #> base::Plugin.activate
        self.loaded["x"] = made
        return self.loaded["x"].both()  #> base::Plugin.both

    def every(self):
        for plugin in self.loaded.values():
            plugin.configure()  #> base::Plugin.configure
        for name, plugin in self.loaded.items():
            plugin.both()  #> base::Plugin.both

    def __call__(self):
        return self.make()  #> loader::Loader.make


def call_instance():
    loader = Loader()  #> loader::Loader
    loader()  #> loader::Loader.__call__
    return loader.make()  #> loader::Loader.make
