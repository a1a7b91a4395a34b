from django.db import migrations


class Migration(migrations.Migration):
    """Room on each page for the claims of its deliveries, which then touch no index.

    What is there keeps its pages; a quarter of PostgreSQL's work for a delivery was
    writing index entries for rows that were only claimed.
    """

    locks_because = "It changes a setting: nobody reads or writes the less, but vacuum."

    dependencies = [("webhooks", "0006_index_of_retried_deliveries")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE webhooks_delivery SET (fillfactor = 50)",
            "ALTER TABLE webhooks_delivery RESET (fillfactor)",
        ),
    ]
