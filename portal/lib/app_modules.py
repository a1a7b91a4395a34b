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
    """Return the value `name` of `<app>.<module>`, by label of each app that has it.

    In the order of labels. Raises: AttributeError if a module lacks the value.
    """
    ours = sorted(
        (config for config in apps.get_app_configs() if config.name in settings.APPS),
        key=lambda config: config.label,
    )
    return {
        config.label: getattr(import_module(f"{config.name}.{module}"), name)
        for config in ours
        if config.module and module_has_submodule(config.module, module)
    }
