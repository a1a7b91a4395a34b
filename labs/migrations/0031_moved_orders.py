"""Mark orders that are history of another platform."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labs", "0030_result_reviews"),
    ]

    operations = [
        migrations.AddField(
            model_name="order",
            name="moved_from",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=50
            ),
        ),
    ]
