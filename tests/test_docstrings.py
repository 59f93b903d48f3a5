"""The examples in docstrings run and say what they print; public functions tell shapes and units."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import chain_lib

MODULES = [name for _, name, _ in pkgutil.walk_packages(chain_lib.__path__, "chain_lib.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    examples = [found for name in MODULES for found in finder.find(import_module(name)) if found.examples]
    assert len(examples) >= 8


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_and_class_has_a_docstring(name):
    module = import_module(name)
    assert module.__doc__
    for label, value in vars(module).items():
        if getattr(value, "__module__", None) == name and not label.startswith("_"):
            if inspect.isclass(value) or callable(value):
                assert inspect.getdoc(value), f"{name}.{label}"
