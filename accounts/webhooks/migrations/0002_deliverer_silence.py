"""Let the web server's role ask for how long a deliverer of another role has been idle.

PostgreSQL shows what a session does to its own role and members of that role alone;
the owner of the tables is made one (`manage.py database_roles`). Where it is none, a
deliverer that is connected counts as active.
"""

from django.db import migrations

SILENCE = """
CREATE FUNCTION webhooks_deliverer_silence(name text) RETURNS float8
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN count(*) > 0 THEN coalesce(
        extract(epoch FROM clock_timestamp() - max(state_change))::float8, 0
    ) END
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = name
$$;
"""


class Migration(migrations.Migration):
    locks_because = "only a function is made"
    dependencies = [("webhooks", "0001_initial")]

    operations = [
        migrations.RunSQL(SILENCE, "DROP FUNCTION webhooks_deliverer_silence(text)"),
    ]
