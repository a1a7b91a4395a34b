"""Name what each transaction that changes samples does where they are spread by user."""

from django.db import migrations

# Nothing on one machine: the planner puts its result in its place. Where samples are
# distributed it touches a table that lets coordinator and worker commit as one
# (users.store.distribution); a database that becomes so needs no process to know it.
MARK_COMMIT = """
CREATE FUNCTION users_mark_commit() RETURNS boolean LANGUAGE sql VOLATILE
AS 'SELECT true';
"""


class Migration(migrations.Migration):
    locks_because = "only a function is made"
    dependencies = [("users", "0030_note_tenant_of_samples")]

    operations = [
        migrations.RunSQL(MARK_COMMIT, "DROP FUNCTION users_mark_commit()"),
    ]
