"""Record the numbers of the orders that were there before."""

from django.db import migrations

# The tables are fenced, for their owner too.
OLDER = """
SELECT set_config('assay.tenant', '*', true);
INSERT INTO users_recordnumber (tenant_id, user_id, kind, record, number)
SELECT tenant_id, user_id, 'order', id, users_spell_number(number) FROM (
    SELECT tenant_id, user_id, id,
        unnest(ARRAY[id::text, transaction_id::text, sample_id]) AS number
    FROM labs_order
    UNION ALL
    SELECT placed.tenant_id, user_id, placed.id, visit.id::text
    FROM labs_appointment visit JOIN labs_order placed ON placed.id = visit.order_id
    UNION ALL
    SELECT placed.tenant_id, user_id, placed.id, unnest(fillers || samples)
    FROM labs_inboundreport JOIN labs_order placed ON placed.id = order_id
    UNION ALL
    SELECT placed.tenant_id, user_id, placed.id,
        unnest(ARRAY[sample.sample_id, control_number])
    FROM labs_sampledata sample
    JOIN labs_resultversion given ON given.id = version_id
    JOIN labs_order placed ON placed.id = given.order_id
) numbers WHERE users_spell_number(number) <> ''
ON CONFLICT DO NOTHING;
SELECT set_config('assay.tenant', '', true);
"""


class Migration(migrations.Migration):
    locks_because = "rows are read and new ones written; nobody waits for either"

    dependencies = [("labs", "0028_record_numbers")]

    operations = [migrations.RunSQL(OLDER, migrations.RunSQL.noop)]
