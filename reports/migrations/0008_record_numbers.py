"""Record the IDs of reports among the numbers that people search for."""

from django.db import migrations

REPORTS = """
CREATE FUNCTION reports_record_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM users_record_number(
        NEW.tenant_id, NEW.user_id, 'report', NEW.id, NEW.id::text
    );
    RETURN NULL;
END $$;
CREATE TRIGGER record_numbers AFTER INSERT ON reports_parsingjob
    FOR EACH ROW EXECUTE FUNCTION reports_record_number();
CREATE TRIGGER forget_numbers AFTER DELETE ON reports_parsingjob
    FOR EACH ROW EXECUTE FUNCTION users_forget_numbers();
"""
UNDO = """
DROP TRIGGER record_numbers ON reports_parsingjob;
DROP TRIGGER forget_numbers ON reports_parsingjob;
DROP FUNCTION reports_record_number();
"""


class Migration(migrations.Migration):
    locks_because = "triggers are added, which takes no look at the rows"

    dependencies = [
        ("reports", "0007_report_mail"),
        ("users", "0023_record_numbers"),
    ]

    operations = [migrations.RunSQL(REPORTS, UNDO)]
