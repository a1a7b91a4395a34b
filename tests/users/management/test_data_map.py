from __future__ import annotations

from io import StringIO

from django.apps import apps
from django.core.management import call_command

from users.queries.users.data_map import list_tables_with_user_data


def test_the_map_has_a_line_for_every_table():
    out, err = StringIO(), StringIO()

    call_command("data_map", stdout=out, stderr=err)

    lines = out.getvalue().splitlines()
    fields = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line}
    of_nobody = {m._meta.label for m in apps.get_models()} - set(fields)
    assert err.getvalue() == ""
    assert of_nobody == set()
    assert {table.label for table in list_tables_with_user_data()} <= set(fields)
    assert "| users.Sample | user_id | deleted |" in lines
    assert any("accounts.AuditEntry | user_uuid | kept: " in line for line in lines)
    assert "| users.UserExport | 7 days | users.remove_old_exports |" in lines
    assert "| users.SourceGrant | access_token, refresh_token |" in lines
