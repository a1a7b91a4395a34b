"""Note the user whose samples are read together with the tenant they are of."""

from django.db import migrations

# A sequence keeps what was noted when a transaction rolls back. Work for another tenant
# that fails in one can't forget its user there, as nothing runs in a failed transaction:
# the note counts with its own tenant alone, wherever it was made. A tenant's number is
# below 2^23 and a user's below 2^40, beyond which noting fails.
FIND_USER = """
CREATE OR REPLACE FUNCTION assay_is_user_of_tenant(person bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER COST 10
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM public.users_user WHERE id = person;
    RETURN FOUND AND setval(
        'assay_private.user_of_samples'::regclass,
        coalesce(public.assay_tenant(), 0) * 1099511627776 + person
    ) > 0;
END $$;
"""
FIND_USER_BEFORE = """
CREATE OR REPLACE FUNCTION assay_is_user_of_tenant(person bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER COST 10
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM public.users_user WHERE id = person;
    RETURN FOUND AND setval('assay_private.user_of_samples'::regclass, person) > 0;
END $$;
"""
FENCE = """
ALTER POLICY tenant_fence ON {table} USING (CASE
    WHEN (SELECT current_setting('assay.tenant', true) = '*')
        THEN (SELECT assay_tenant()) IS NULL
    WHEN user_id = (
        SELECT currval('assay_private.user_of_samples'::regclass){less}
        WHERE current_setting('assay.notes_user', true) = 'yes'
    ) THEN true
    ELSE assay_is_user_of_tenant(user_id)
END);
"""
OF_TENANT = " - assay_tenant() * 1099511627776"
TABLES = ("users_sample", "users_packedday", "users_sampleextra")


class Migration(migrations.Migration):
    locks_because = "a policy and a function are replaced at once, whatever tables hold"
    dependencies = [("users", "0029_fence_samples")]

    operations = [
        migrations.RunSQL(FIND_USER, FIND_USER_BEFORE),
        *(
            migrations.RunSQL(
                FENCE.format(table=each, less=OF_TENANT),
                FENCE.format(table=each, less=""),
            )
            for each in TABLES
        ),
    ]
