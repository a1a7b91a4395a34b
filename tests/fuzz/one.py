"""One target under libFuzzer: `python -m tests.fuzz.one TARGET [FLAG ...] FOLDER ...`.

Started by tests.fuzz, which knows the flags.
"""

from __future__ import annotations

import os
import sys
from types import FunctionType, ModuleType

import atheris  # type: ignore[import-untyped]  # it has no types


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    name = sys.argv.pop(1)
    import django

    django.setup()
    from tests.fuzz.targets import TARGETS, try_input

    target = TARGETS[name]
    for label, module in list(sys.modules.items()):
        if label.startswith(target.watched):
            _watch(module)
    atheris.Setup(sys.argv, lambda content: try_input(target, content))
    atheris.Fuzz()


def _watch(module: ModuleType) -> None:
    """Have the branches of a module's own functions and methods guide the run."""
    owners = [module, *(each for each in vars(module).values() if type(each) is type)]
    for owner in owners:
        for each in list(vars(owner).values()):
            function = getattr(each, "__wrapped__", getattr(each, "__func__", each))
            if (
                isinstance(function, FunctionType)
                and function.__module__ == module.__name__
            ):
                atheris.instrument_func(function)


if __name__ == "__main__":
    main()
