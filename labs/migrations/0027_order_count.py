import django.db.models.deletion
from django.db import migrations, models

# Statuses change row by row; orders are also made and deleted in bulk.
_TRIGGERS = """
CREATE FUNCTION labs_count_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO labs_ordercount (tenant_id, status, method, number)
        SELECT tenant_id, status, method, count(*) FROM made
        GROUP BY tenant_id, status, method;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO labs_ordercount (tenant_id, status, method, number)
        SELECT tenant_id, status, method, -count(*) FROM gone
        GROUP BY tenant_id, status, method;
    ELSE
        INSERT INTO labs_ordercount (tenant_id, status, method, number) VALUES
            (OLD.tenant_id, OLD.status, OLD.method, -1),
            (NEW.tenant_id, NEW.status, NEW.method, 1);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER order_made AFTER INSERT ON labs_order
    REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION labs_count_orders();
CREATE TRIGGER order_gone AFTER DELETE ON labs_order
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION labs_count_orders();
CREATE TRIGGER order_moved AFTER UPDATE OF tenant_id, status, method ON labs_order
    FOR EACH ROW WHEN (
        (OLD.tenant_id, OLD.status, OLD.method)
        IS DISTINCT FROM (NEW.tenant_id, NEW.status, NEW.method)
    ) EXECUTE FUNCTION labs_count_orders();
INSERT INTO labs_ordercount (tenant_id, status, method, number)
    SELECT tenant_id, status, method, count(*) FROM labs_order
    GROUP BY tenant_id, status, method;
"""
_NO_TRIGGERS = """
DROP TRIGGER order_made ON labs_order;
DROP TRIGGER order_gone ON labs_order;
DROP TRIGGER order_moved ON labs_order;
DROP FUNCTION labs_count_orders();
"""


class Migration(migrations.Migration):
    # Orders wait while they are counted once: a second for some millions of them.
    locks_because = "the numbers are right from the first order on"

    dependencies = [("labs", "0026_document_results")]

    operations = [
        migrations.CreateModel(
            name="OrderCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("status", models.CharField(max_length=100)),
                ("method", models.CharField(max_length=100)),
                ("number", models.BigIntegerField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "order count",
                "verbose_name_plural": "order counts",
                "abstract": False,
                "base_manager_name": "unscoped",
                "default_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["tenant"], name="order_count_of_tenant")
                ],
            },
            managers=[("unscoped", models.Manager())],
        ),
        migrations.RunSQL(_TRIGGERS, _NO_TRIGGERS),
    ]
