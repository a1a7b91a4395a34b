from django.db import migrations


class Migration(migrations.Migration):
    """The table of the database cache; `createcachetable` finds it made."""

    dependencies = [("portal", "0001_initial")]

    operations = [
        migrations.RunSQL(
            sql="""
            CREATE TABLE portal_cache (
                cache_key varchar(255) NOT NULL PRIMARY KEY,
                value text NOT NULL,
                expires timestamp with time zone NOT NULL
            );
            CREATE INDEX portal_cache_expires ON portal_cache (expires);
            """,
            reverse_sql="DROP TABLE portal_cache;",
        )
    ]
