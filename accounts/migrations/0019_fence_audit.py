"""Hold the audit to the tenant of the connection."""

from django.db import migrations

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "a policy is made at once, whatever the table holds"
    dependencies = [
        ("accounts", "0018_mail_texts"),
        ("portal", "0002_signed_tenant"),
    ]

    operations = enable_tenant_row_security(
        "accounts_auditentry", "accounts_auditseal"
    )
