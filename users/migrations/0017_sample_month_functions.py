"""Add and clear months of samples by functions of the tables' owner.

The roles that serve own no table, but a batch may need a month that no worker made.
"""

from django.db import migrations

# The parent's columns and key, but no fence: only the parent is granted to anyone. A
# month is read by its covering key alone only where vacuum has been; by default that
# waits until a fifth of the rows are new. Before 2025 there is one partition.
ADD_MONTH = """
CREATE FUNCTION users_add_sample_month(month date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    name text := 'users_sample_' || to_char(month, 'YYYY_MM');
BEGIN
    IF month IS NULL OR extract(day FROM month) <> 1
        OR month < '2025-01-01' OR month >= '2100-01-01'
    THEN
        RAISE EXCEPTION 'no month that samples can have: %', month
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    EXECUTE format(
        'CREATE TABLE public.%I (LIKE public.users_sample)'
        ' WITH (autovacuum_vacuum_insert_scale_factor = 0.02)', name
    );
    EXECUTE format(
        'ALTER TABLE public.users_sample ATTACH PARTITION public.%I'
        ' FOR VALUES FROM (%L) TO (%L)', name,
        month::timestamp AT TIME ZONE 'UTC',
        (month + interval '1 month')::timestamp AT TIME ZONE 'UTC'
    );
END $$;
REVOKE ALL ON FUNCTION users_add_sample_month(date) FROM PUBLIC;
"""
# Whoever calls it sets how long it waits for the lock. Where a table has no page, no
# reader can see a row in it.
CLEAR_MONTH = """
CREATE FUNCTION users_clear_sample_month(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    month regclass := to_regclass(name);
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_inherits
        WHERE inhparent = 'public.users_sample'::regclass AND inhrelid = month
    ) THEN
        RAISE EXCEPTION 'no month of samples' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', month);
    IF pg_relation_size(month) > 0 THEN
        RETURN false;
    END IF;
    EXECUTE format('TRUNCATE %s', month);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION users_clear_sample_month(text) FROM PUBLIC;
"""


class Migration(migrations.Migration):
    locks_because = "only functions are made"
    dependencies = [("users", "0016_phones")]

    operations = [
        migrations.RunSQL(ADD_MONTH, "DROP FUNCTION users_add_sample_month(date)"),
        migrations.RunSQL(CLEAR_MONTH, "DROP FUNCTION users_clear_sample_month(text)"),
    ]
