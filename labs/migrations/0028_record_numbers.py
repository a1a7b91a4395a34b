"""Record the numbers of orders: of their samples, visits and labs."""

from django.db import migrations

ORDERS = """
CREATE FUNCTION labs_record_order_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM users_record_number(NEW.tenant_id, NEW.user_id, 'order', NEW.id, number)
    FROM unnest(ARRAY[NEW.id::text, NEW.transaction_id::text, NEW.sample_id]) number;
    RETURN NULL;
END $$;
CREATE TRIGGER record_numbers AFTER INSERT OR UPDATE OF sample_id ON labs_order
    FOR EACH ROW EXECUTE FUNCTION labs_record_order_numbers();
CREATE TRIGGER forget_numbers AFTER DELETE ON labs_order
    FOR EACH ROW EXECUTE FUNCTION users_forget_numbers();
"""
VISITS = """
CREATE FUNCTION labs_record_visit_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM users_record_number(tenant_id, user_id, 'order', id, NEW.id::text)
    FROM labs_order WHERE id = NEW.order_id;
    RETURN NULL;
END $$;
CREATE TRIGGER record_numbers AFTER INSERT ON labs_appointment
    FOR EACH ROW EXECUTE FUNCTION labs_record_visit_numbers();
"""
# A report that is matched to another order takes its numbers along.
LAB_REPORTS = """
CREATE FUNCTION labs_record_lab_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.order_id IS DISTINCT FROM NEW.order_id THEN
        DELETE FROM users_recordnumber
        WHERE record = OLD.order_id AND number IN (
            SELECT users_spell_number(each) FROM unnest(OLD.fillers) each
        );
    END IF;
    PERFORM users_record_number(tenant_id, user_id, 'order', id, number)
    FROM labs_order, unnest(NEW.fillers || NEW.samples) number
    WHERE id = NEW.order_id;
    RETURN NULL;
END $$;
CREATE TRIGGER record_numbers AFTER INSERT OR UPDATE OF order_id ON labs_inboundreport
    FOR EACH ROW EXECUTE FUNCTION labs_record_lab_numbers();
"""
SAMPLES = """
CREATE FUNCTION labs_record_sample_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM users_record_number(placed.tenant_id, user_id, 'order', placed.id, each)
    FROM labs_resultversion given JOIN labs_order placed ON placed.id = given.order_id,
        unnest(ARRAY[NEW.sample_id, NEW.control_number]) each
    WHERE given.id = NEW.version_id;
    RETURN NULL;
END $$;
CREATE TRIGGER record_numbers AFTER INSERT ON labs_sampledata
    FOR EACH ROW EXECUTE FUNCTION labs_record_sample_numbers();
"""


def _undo(table: str, function: str) -> str:
    return (
        f"DROP TRIGGER record_numbers ON {table};"
        f" DROP TRIGGER IF EXISTS forget_numbers ON {table};"
        f" DROP FUNCTION {function}();"
    )


class Migration(migrations.Migration):
    locks_because = "a trigger is added to each table, which takes no look at its rows"

    dependencies = [
        ("labs", "0027_order_count"),
        ("users", "0023_record_numbers"),
    ]

    operations = [
        migrations.RunSQL(ORDERS, _undo("labs_order", "labs_record_order_numbers")),
        migrations.RunSQL(
            VISITS, _undo("labs_appointment", "labs_record_visit_numbers")
        ),
        migrations.RunSQL(
            LAB_REPORTS, _undo("labs_inboundreport", "labs_record_lab_numbers")
        ),
        migrations.RunSQL(
            SAMPLES, _undo("labs_sampledata", "labs_record_sample_numbers")
        ),
    ]
