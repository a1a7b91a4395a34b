from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "the table is new and empty, and nobody waits for it"

    dependencies = [("users", "0011_import_recognized_as")]

    operations = [
        migrations.CreateModel(
            name="PackedDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "user_id",
                        "series",
                        "feed",
                        "day",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("user_id", models.BigIntegerField()),
                ("first", models.DateTimeField()),
                ("last", models.DateTimeField()),
                ("total", models.FloatField()),
                ("low", models.FloatField()),
                ("high", models.FloatField()),
                ("checksum", models.IntegerField()),
                ("count", models.IntegerField()),
                ("longest", models.IntegerField()),
                ("last_tz_offset", models.IntegerField()),
                ("day", models.DateField()),
                ("series", models.SmallIntegerField()),
                ("feed", models.SmallIntegerField()),
                ("codec", models.SmallIntegerField()),
                ("payload", models.BinaryField()),
            ],
        ),
        migrations.RunSQL(
            # It is compressed already, and most days fit into a row of 4 kB.
            "ALTER TABLE users_packedday ALTER COLUMN payload SET STORAGE EXTERNAL;"
            "ALTER TABLE users_packedday SET (toast_tuple_target = 4080)",
            migrations.RunSQL.noop,
        ),
    ]
