"""Stand-ins for what a package imports besides its rotary functions: GPU libraries, loggers, configurations.

import_with_stand_ins(["vllm.layers.rope"], "vllm") gives that module as it is, with everything else of vllm a mock."""
import importlib
import importlib.abc
import importlib.machinery
import sys
from unittest import mock


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, real, roots):
        self.real, self.roots = real, roots

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in self.roots or name.startswith(self.real):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        there = importlib.machinery.PathFinder.find_spec(name, path)  # so that the real module below it is found
        spec.submodule_search_locations.extend(there and there.submodule_search_locations or [])
        return spec

    def create_module(self, spec):
        return mock.MagicMock(name=spec.name)

    def exec_module(self, module):
        pass


def import_with_stand_ins(real, *roots, given=None):
    """The modules `real`, a list; what else is imported of the packages `roots` is a mock, but what is given:
    "module.name" -> what a mock would not do for (a base class)."""
    sys.meta_path.insert(0, _StandIns(tuple(real), roots))
    for where, what in (given or {}).items():
        module, _, name = where.rpartition(".")
        setattr(importlib.import_module(module), name, what)
    return [importlib.import_module(name) for name in real]
