"""Import the modules by which apps declare what others use, such as `pages`.

An import at first use and not in AppConfig.ready: a command that shows no page loads no
module of pages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.utils.module_loading import module_has_submodule


def import_declarations(module: str, name: str) -> dict[str, Any]:
    """Return the value `name` of `<app>.<module>`, by app that has the module.

    From the highest app down (`settings.APPS`). Raises: AttributeError if a module
    lacks the value.
    """
    modules = {config.name: config.module for config in apps.get_app_configs()}
    return {
        app: getattr(import_module(f"{app}.{module}"), name)
        for app in reversed(settings.APPS)
        if (package := modules[app]) and module_has_submodule(package, module)
    }
