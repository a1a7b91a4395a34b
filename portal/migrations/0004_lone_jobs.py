"""Let jobs of no team, too, keep to their queue's share of a worker."""

from importlib import import_module

from django.db import migrations

_FETCH = import_module("portal.migrations.0003_job_turns").FETCH
# Before, the share of a queue was that of teams alone: all packers would be in one
# worker, in places that others wait for.
_CONDITION = """ AND waiting.team <> ''
        )"""
FETCH = _FETCH.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


class Migration(migrations.Migration):
    locks_because = "a function is replaced, no table is touched"
    dependencies = [("portal", "0003_job_turns")]

    operations = [migrations.RunSQL(FETCH.replace(_CONDITION, ")"), FETCH)]
