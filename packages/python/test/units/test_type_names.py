"""Every name in the types of the client is defined: only a type checker reads them, so nothing else would notice."""

import inspect
import typing
import unittest
from importlib import import_module

MODULES = ["records", "requests", "values"]


class TypeNames(unittest.TestCase):
    def test_are_all_defined(self):
        for name in MODULES:
            module = import_module(f"convoke_sdk._generated.{name}")
            typing.get_type_hints(module)
            for _, each in inspect.getmembers(module, inspect.isclass):
                if each.__module__ == module.__name__:
                    with self.subTest(module=name, type=each.__name__):
                        typing.get_type_hints(each)


if __name__ == "__main__":
    unittest.main()
