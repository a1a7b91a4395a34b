from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.RunSQL(
            sql="""
            CREATE FUNCTION accounts_audit_append_only() RETURNS trigger
            LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'the audit is append-only'
                    USING ERRCODE = 'insufficient_privilege';
            END $$;
            CREATE TRIGGER audit_append_only
            BEFORE UPDATE OR DELETE ON accounts_auditentry
            FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
            """,
            reverse_sql="""
            DROP TRIGGER audit_append_only ON accounts_auditentry;
            DROP FUNCTION accounts_audit_append_only();
            """,
        )
    ]
