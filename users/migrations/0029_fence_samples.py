"""Hold samples, packed days and extras to the tenant that their user is of."""

from django.db import migrations

# Rows of samples name no tenant, only a user, who is behind the fence of users_user and
# is looked up there. The last one that was found to be of the tenant is noted in a
# sequence, whose last value in a session only `setval` changes, for which a role that
# serves has no right: so the next rows are compared with a number. Naming a tenant
# forgets it (portal.lib.tenancy), whoever the connection worked for before. A sequence
# without WAL, as what matters of it is in the session's memory.
NOTE = """
CREATE UNLOGGED SEQUENCE assay_private.user_of_samples MINVALUE 0 START 0;
GRANT SELECT ON SEQUENCE assay_private.user_of_samples TO PUBLIC;
"""
FORGET_USER = """
CREATE FUNCTION assay_forget_user() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('assay.notes_user', 'yes', false);
    RETURN setval('assay_private.user_of_samples'::regclass, 0) = 0;
END $$;
"""
FIND_USER = """
CREATE FUNCTION assay_is_user_of_tenant(person bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER COST 10
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM public.users_user WHERE id = person;
    RETURN FOUND AND setval('assay_private.user_of_samples'::regclass, person) > 0;
END $$;
"""
# A CASE, as of an OR the planner would look for an index in each month, and take a
# third of the rows to be a user's own. What is open to all notes nobody; in a session
# that never forgot anybody (psql, a server before its upgrade) there is no last value.
FENCE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON {table} USING (CASE
    WHEN (SELECT current_setting('assay.tenant', true) = '*')
        THEN (SELECT assay_tenant()) IS NULL
    WHEN user_id = (
        SELECT currval('assay_private.user_of_samples'::regclass)
        WHERE current_setting('assay.notes_user', true) = 'yes'
    ) THEN true
    ELSE assay_is_user_of_tenant(user_id)
END);
"""
UNFENCE = """
DROP POLICY tenant_fence ON {table};
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;
"""
TABLES = ("users_sample", "users_packedday", "users_sampleextra")


class Migration(migrations.Migration):
    locks_because = "a policy is made at once, whatever the table holds"
    dependencies = [
        ("users", "0028_fence_record_numbers"),
        ("portal", "0002_signed_tenant"),
    ]

    operations = [
        migrations.RunSQL(NOTE, "DROP SEQUENCE assay_private.user_of_samples"),
        migrations.RunSQL(FORGET_USER, "DROP FUNCTION assay_forget_user()"),
        migrations.RunSQL(FIND_USER, "DROP FUNCTION assay_is_user_of_tenant(bigint)"),
        *(
            migrations.RunSQL(FENCE.format(table=each), UNFENCE.format(table=each))
            for each in TABLES
        ),
    ]
