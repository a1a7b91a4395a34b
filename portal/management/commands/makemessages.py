"""`manage.py makemessages`: collect every translatable text into the catalogue.

The catalogue holds the English source of the whole interface, so that one review reads
all of it. Needs GNU gettext on the path.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.commands import makemessages

_HEADER_DATE = re.compile(r'^"POT-Creation-Date:.*\n', re.MULTILINE)
_DEFAULTS: dict[str, Any] = {
    "locale": ["en"],
    "no_obsolete": True,
    "no_wrap": True,
    "add_location": "file",
    "ignore_patterns": ["var/*", "tests/*", ".venv/*", "static/*", "staticfiles/*"],
}


class Command(makemessages.Command):
    """Django's command for our one catalogue, without a line that changes each run."""

    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the catalogue of English texts; other options stay Django's."""
        super().handle(*args, **(options | _DEFAULTS))
        for catalogue in Path(settings.LOCALE_PATHS[0]).glob("*/LC_MESSAGES/*.po"):
            text = catalogue.read_text()
            catalogue.write_text(_HEADER_DATE.sub("", text, count=1))
