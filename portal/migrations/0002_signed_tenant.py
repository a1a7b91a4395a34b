"""Let a role that serves name a tenant only with a signature the server can check."""

from django.db import migrations

# A key is kept as the two blocks that HMAC-SHA-256 begins with (RFC 2104), so that a
# signature is checked by functions that every PostgreSQL has. Only the owner reads it.
TENANT_KEYS = """
CREATE SCHEMA assay_private;
REVOKE ALL ON SCHEMA assay_private FROM PUBLIC;
CREATE TABLE assay_private.tenant_key (
    id text PRIMARY KEY,
    inner_block bytea NOT NULL,
    outer_block bytea NOT NULL
);
"""
# As before for the role that owns the tables, which could lift the fence anyway: whoever
# has one role for everything goes on without a key. The names are qualified and the
# search path is fixed, as the function reads what its caller may not. Digests of the
# signatures are compared, so that the time taken says nothing of them.
NAMED_TENANT = """
CREATE OR REPLACE FUNCTION assay_tenant() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named text := current_setting('assay.tenant', true);
    proof text;
BEGIN
    IF named IS NULL OR named = '' THEN
        RAISE EXCEPTION 'no tenant is named on this connection'
            USING ERRCODE = 'insufficient_privilege',
                HINT = 'Work inside acting_for or across_tenants; in psql, as the role'
                    ' that owns the tables: SET assay.tenant = ''*''.';
    END IF;
    IF session_user <> current_user THEN
        proof := coalesce(current_setting('assay.tenant_proof', true), '');
        IF NOT EXISTS (
            SELECT FROM assay_private.tenant_key
            WHERE id = split_part(proof, ':', 1)
                AND sha256(convert_to(split_part(proof, ':', 2), 'UTF8')) = sha256(
                    convert_to(encode(sha256(outer_block || sha256(
                        inner_block || convert_to(named, 'UTF8')
                    )), 'hex'), 'UTF8')
                )
        ) THEN
            RAISE EXCEPTION 'the tenant of this connection is not signed'
                USING ERRCODE = 'insufficient_privilege',
                    HINT = 'Run `manage.py migrate`, which gives the database the key'
                        ' of this server.';
        END IF;
    END IF;
    IF named = '*' THEN
        RETURN NULL;
    END IF;
    RETURN named::bigint;
END $$;
"""
UNSIGNED_TENANT = """
CREATE OR REPLACE FUNCTION assay_tenant() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER AS $$
DECLARE
    named text := current_setting('assay.tenant', true);
BEGIN
    IF named = '*' THEN
        RETURN NULL;
    ELSIF named <> '' THEN
        RETURN named::bigint;
    END IF;
    RAISE EXCEPTION 'no tenant is named on this connection'
        USING ERRCODE = 'insufficient_privilege';
END $$;
ALTER FUNCTION assay_tenant() RESET ALL;
"""


class Migration(migrations.Migration):
    locks_because = "its table is made here; a function is replaced, no table touched"
    dependencies = [("portal", "0001_initial")]

    operations = [
        migrations.RunSQL(TENANT_KEYS, "DROP SCHEMA assay_private CASCADE"),
        migrations.RunSQL(NAMED_TENANT, UNSIGNED_TENANT),
    ]
