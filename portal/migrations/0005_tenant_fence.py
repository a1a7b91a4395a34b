from django.db import migrations

from portal.lib.tenancy import fence

# A null is every tenant. Parallel workers are given the setting.
NAMED_TENANT = """
CREATE OR REPLACE FUNCTION assay_tenant() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    named text := current_setting('assay.tenant', true);
BEGIN
    IF named = '*' THEN
        RETURN NULL;
    ELSIF named <> '' THEN
        RETURN named::bigint;
    END IF;
    RAISE EXCEPTION 'no tenant is named on this connection'
        USING ERRCODE = 'insufficient_privilege',
            HINT = 'Work inside acting_for or across_tenants; in psql:'
                ' SET assay.tenant = ''*''.';
END $$;
"""


class Migration(migrations.Migration):
    # One table at a time: to hold them all at once would wait for everybody.
    atomic = False
    locks_because = (
        "a policy reads no row; each table is locked for an instant, once the"
        " statements that run on it have ended"
    )
    dependencies = [
        ("portal", "0004_backup_notes"),
        ("webhooks", "0001_initial"),
        ("users", "0002_summaries_and_arrivals"),
        ("labs", "0013_patient_notices"),
        ("reports", "0004_second_reads_aliases_and_rereadings"),
    ]

    operations = [
        migrations.RunSQL(NAMED_TENANT, reverse_sql="DROP FUNCTION assay_tenant()"),
        *fence(
            "users_userinfo",
            "users_summary",
            "labs_userinsurance",
            "labs_ordertransaction",
            "labs_order",
            "labs_orderevent",
            "labs_shipment",
            "labs_appointment",
            "labs_appointmentevent",
            "labs_resultversion",
            "labs_result",
            "labs_missingresult",
            "labs_sampledata",
            "labs_criticalalert",
            "labs_inboundmessage",
            "labs_inboundreport",
            "labs_patientnotice",
            "reports_parsingjob",
            "reports_reportfile",
            "reports_reportresult",
            "reports_parsingjobtransition",
            "reports_review",
            "reports_reviewrow",
            "reports_reviewrowversion",
            "reports_signoff",
            "reports_reviewcomment",
            "reports_rereading",
            "webhooks_event",
            "portal_idempotentanswer",
        ),
    ]
