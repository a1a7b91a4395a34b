"""What apps below call in the reports app."""

from __future__ import annotations

from accounts.declarations.hooks import AppHooks, MarkerSource
from accounts.states import Area
from reports.operations.jobs.receiving import enqueue_lab_document_reading
from reports.operations.loinc_proposals import propose_loinc_codes
from reports.operations.outside_reports import store_outside_reports
from reports.operations.reading.files import erase_user_reports
from reports.operations.signing.signed_values import list_signed_values_with_loinc
from reports.queries.user_record import count_values_waiting_for_signature

HOOKS = AppHooks(
    user_erasers=(erase_user_reports,),
    lab_document_readers=(enqueue_lab_document_reading,),
    lab_report_keepers=(store_outside_reports,),
    loinc_proposers=(propose_loinc_codes,),
    marker_sources=(
        MarkerSource(
            Area.REPORTS,
            list_signed_values_with_loinc,
            count_waiting=count_values_waiting_for_signature,
        ),
    ),
)
