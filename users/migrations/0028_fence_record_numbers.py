"""Hold numbers of records to the tenant of the connection, and find them by a part."""

from django.db import migrations

# Its owner passes, so that the function below may use the index of letters: PostgreSQL
# evaluates no LIKE before a policy.
FENCE = """
ALTER TABLE users_recordnumber ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON users_recordnumber USING (
    tenant_id = (SELECT assay_tenant()) OR (SELECT assay_tenant()) IS NULL
);
"""
UNFENCE = """
DROP POLICY tenant_fence ON users_recordnumber;
ALTER TABLE users_recordnumber DISABLE ROW LEVEL SECURITY;
"""
# As the owner, within the tenant that the connection names. Planned with each call: of
# a part that few numbers have the index of letters is read, of others the tenant's.
FIND_NUMBERS = """
CREATE FUNCTION users_find_numbers(
    tenant bigint, sort text, part text, with_ids boolean, most integer
)
RETURNS TABLE (record uuid, user_id bigint, number text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF tenant <> assay_tenant() THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE
        'SELECT record, user_id, number::text FROM users_recordnumber'
        ' WHERE tenant_id = $1 AND kind = $2 AND number LIKE $3'
        ' AND ($4 OR length(number) <> 32) LIMIT $5'
        USING tenant, sort, part, with_ids, most;
END $$;
"""
UNFIND_NUMBERS = """
DROP FUNCTION users_find_numbers(bigint, text, text, boolean, integer)
"""


class Migration(migrations.Migration):
    locks_because = "a policy is made at once, whatever the table holds"
    dependencies = [
        ("users", "0027_users_by_time_zone"),
        ("portal", "0002_signed_tenant"),
    ]

    operations = [
        migrations.RunSQL(FENCE, UNFENCE),
        migrations.RunSQL(FIND_NUMBERS, UNFIND_NUMBERS),
    ]
