from django.db import migrations

TRUNCATE = """
CREATE TRIGGER {name}
BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION accounts_audit_append_only();
"""


def refuse_truncate(table: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        TRUNCATE.format(table=table, name=name),
        reverse_sql=f"DROP TRIGGER {name} ON {table};",
    )


class Migration(migrations.Migration):
    # One table at a time: to hold both would wait for all who write to either.
    atomic = False
    locks_because = (
        "a trigger reads no row; writers of each table wait for an instant, once the"
        " transactions that write to it have ended"
    )
    dependencies = [("accounts", "0019_retention_rules")]

    operations = [
        refuse_truncate("accounts_auditentry", "audit_no_truncate"),
        refuse_truncate("accounts_auditseal", "audit_seal_no_truncate"),
    ]
