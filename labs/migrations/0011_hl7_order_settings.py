"""Add what a lab asks of the orders that are sent to it as HL7."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labs", "0010_couriers")]

    operations = [
        migrations.AddField(
            model_name="labaccount",
            name="hl7_one_message_per_test",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="labaccount",
            name="hl7_payer_in_in1",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
