from django.db import migrations, models


class Migration(migrations.Migration):
    """The language of a member's pages and mails; notices that can be read in any."""

    dependencies = [
        ("accounts", "0016_list_columns"),
    ]

    operations = [
        migrations.AddField(
            model_name="member",
            name="language",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=10
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="sentence",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
            ),
        ),
    ]
