#!/usr/bin/env python
"""Django's command line for Assay; `manage.py demo` runs everything."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")  # noqa: TID251 - as above
    if sys.argv[1:2] == ["demo"] and "--help" not in sys.argv:
        # Loading the apps takes seconds on a busy machine; a newcomer sees it begin.
        sys.stdout.write("Starting the Assay demo. The first start takes a minute.\n")
        sys.stdout.flush()
    from portal.lib.database.roles import use_database_role_of

    use_database_role_of(sys.argv[1] if len(sys.argv) > 1 else "")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
