from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("reports", "0004_second_reads_aliases_and_rereadings")]

    operations = [
        migrations.RunSQL(
            # A row goes with its user alone: erasing says so for its own transaction.
            sql="""
            CREATE FUNCTION reports_signoff_stays() RETURNS trigger
            LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP = 'DELETE'
                    AND current_setting('assay.erasing', true) = 'on' THEN
                    RETURN OLD;
                END IF;
                RAISE EXCEPTION 'a signature is neither changed nor deleted'
                    USING ERRCODE = 'insufficient_privilege';
            END $$;
            CREATE TRIGGER signoff_stays
            BEFORE UPDATE OR DELETE ON reports_signoff
            FOR EACH ROW EXECUTE FUNCTION reports_signoff_stays();
            """,
            reverse_sql="""
            DROP TRIGGER signoff_stays ON reports_signoff;
            DROP FUNCTION reports_signoff_stays();
            """,
        )
    ]
