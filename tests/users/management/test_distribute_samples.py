"""On a PostgreSQL without Citus; with it: tests/scale/citus."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

pytestmark = pytest.mark.django_db

FENCES = "SELECT count(*) FROM pg_policy WHERE polrelid = 'users_sample'::regclass"


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_without_the_extension_nothing_is_changed(options):
    with pytest.raises(CommandError, match=r"^The database has no extension citus\.$"):
        call_command("distribute_samples", *options)

    with connection.cursor() as cursor:
        cursor.execute(FENCES)
        assert cursor.fetchone() == (1,)
