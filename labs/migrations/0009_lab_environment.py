"""Keep labs of the sandbox and of production apart.

Production had the labs that ship, with made-up centers, prices and codes. What teams
entered there stays under a copy of its lab's name and address: lab accounts, orders and
reports. Its panels are archived, and those that no order names are deleted, as their
markers were the sandbox's. `import_lab_catalogue` brings in the real ones.
"""

from django.db import migrations, models

_COPY = """
INSERT INTO labs_lab (id, environment, slug, name, first_line_address, city, zipcode,
    collection_methods, sample_types)
SELECT nextval('labs_production_id'), 'production', slug, name, first_line_address, city,
    zipcode, collection_methods, sample_types
FROM labs_lab WHERE environment = 'sandbox' AND id IN (
    SELECT lab_id FROM labs_labaccount WHERE environment = 'production'
    UNION SELECT lab_id FROM labs_order JOIN accounts_tenant AS tenant
        ON tenant.id = tenant_id WHERE tenant.environment = 'production'
    UNION SELECT lab_id FROM labs_inboundmessage JOIN accounts_tenant AS tenant
        ON tenant.id = tenant_id WHERE tenant.environment = 'production'
)
"""
_DELETE_PANELS = """
WITH gone AS (
    SELECT panel.id FROM labs_labtest AS panel
    JOIN accounts_tenant AS tenant ON tenant.id = panel.tenant_id
    WHERE tenant.environment = 'production' AND NOT EXISTS (
        SELECT FROM labs_order WHERE lab_test_id = panel.id
    )
), unmarked AS (
    DELETE FROM labs_labtest_markers WHERE labtest_id IN (SELECT id FROM gone)
)
DELETE FROM labs_labtest WHERE id IN (SELECT id FROM gone)
"""
_ARCHIVE_PANELS = """
UPDATE labs_labtest AS panel SET status = 'inactive', status_before_archive = '',
    reference_slug = '', updated_at = now()
FROM accounts_tenant AS tenant
WHERE tenant.id = panel.tenant_id AND tenant.environment = 'production'
"""
_MOVE = """
UPDATE {table} AS moved SET lab_id = copy.id
FROM labs_lab AS old, labs_lab AS copy, accounts_tenant AS tenant
WHERE moved.lab_id = old.id AND old.environment = 'sandbox' AND copy.slug = old.slug
    AND copy.environment = 'production' AND tenant.id = moved.tenant_id
    AND tenant.environment = 'production'
"""
_MOVE_ACCOUNTS = """
UPDATE labs_labaccount AS moved SET lab_id = copy.id FROM labs_lab AS old, labs_lab AS copy
WHERE moved.lab_id = old.id AND old.environment = 'sandbox' AND copy.slug = old.slug
    AND copy.environment = 'production' AND moved.environment = 'production'
"""
_TABLES = ("labs_order", "labs_inboundmessage", "labs_labtest")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("labs", "0008_marker_container"),
    ]
    locks_because = "labs are a few rows, and nobody orders in production while it runs"

    operations = [
        migrations.RunSQL(
            "CREATE SEQUENCE labs_production_id AS integer START 10000001",
            "DROP SEQUENCE labs_production_id",
        ),
        migrations.AddField(
            model_name="lab",
            name="environment",
            field=models.CharField(
                choices=[("sandbox", "Sandbox"), ("production", "Production")],
                db_default="sandbox",
                default="sandbox",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="lab", name="slug", field=models.SlugField(max_length=50)
        ),
        migrations.AddConstraint(
            model_name="lab",
            constraint=models.UniqueConstraint(
                fields=("environment", "slug"), name="lab_once_per_environment"
            ),
        ),
        migrations.RunSQL(
            [
                _COPY,
                _DELETE_PANELS,
                _ARCHIVE_PANELS,
                *(_MOVE.format(table=table) for table in _TABLES),
                _MOVE_ACCOUNTS,
            ],
            migrations.RunSQL.noop,
        ),
    ]
