"""Add the tube that a marker's blood is drawn into."""

from django.db import migrations, models

import labs.states.catalogue


class Migration(migrations.Migration):
    dependencies = [("labs", "0007_texts")]

    operations = [
        migrations.AddField(
            model_name="marker",
            name="container",
            field=models.CharField(
                blank=True,
                choices=labs.states.catalogue.Container.offered,
                db_default="",
                default="",
                max_length=100,
            ),
        ),
    ]
