from shop.plugins.base import Plugin, registry
from shop.plugins.loader import load_all as load

__all__ = ["Plugin", "load", "registry"]
