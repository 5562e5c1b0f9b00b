"""One file a family of scenes, each with a function `scenes()`. A new file is found by itself."""

import importlib
import pkgutil

from benchmarks.scene import Scene


def load() -> list[Scene]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [s for name in names for s in importlib.import_module(f"{__name__}.{name}").scenes()]
