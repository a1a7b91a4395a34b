"""Record the IDs of the reports that were there before."""

from django.db import migrations

# The table is fenced, for its owner too.
OLDER = """
SELECT set_config('assay.tenant', '*', true);
INSERT INTO users_recordnumber (tenant_id, user_id, kind, record, number)
SELECT tenant_id, user_id, 'report', id, users_spell_number(id::text)
FROM reports_parsingjob
ON CONFLICT DO NOTHING;
SELECT set_config('assay.tenant', '', true);
"""


class Migration(migrations.Migration):
    locks_because = "rows are read and new ones written; nobody waits for either"

    dependencies = [("reports", "0008_record_numbers")]

    operations = [migrations.RunSQL(OLDER, migrations.RunSQL.noop)]
