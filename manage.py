#!/usr/bin/env python
"""Django's command line for Assay; `manage.py demo` runs everything."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")  # noqa: TID251 - as above
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
