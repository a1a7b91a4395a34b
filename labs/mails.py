"""The mails to patients about their orders, whose texts a team may edit.

They name no test, no result and no time: an inbox is read by others too.
"""

from __future__ import annotations

from accounts.declarations.mails import MailKind, MailText
from labs.states.patient_notices import NoticeKind
from portal.lib.translation import gettext_lazy

_SWITCH = "lab_tests_patient_email_communication_enabled"
# Kind: when it is sent, subject, body.
_NOTICES = {
    NoticeKind.KIT_SENT: (
        gettext_lazy("When a test kit is on its way to the patient."),
        gettext_lazy("Your test kit is on its way: %(company)s"),
        gettext_lazy(
            "Your test kit has been sent and will arrive in the next few days. The box"
            " explains how to use the kit and how to send it back."
        ),
    ),
    NoticeKind.REQUISITION_READY: (
        gettext_lazy("When the requisition of an order at a service center is ready."),
        gettext_lazy("Your lab order is ready: %(company)s"),
        gettext_lazy(
            "The order for your lab visit is ready. Contact %(company)s if you don't"
            " know where to go or what to bring."
        ),
    ),
    NoticeKind.VISIT_SCHEDULED: (
        gettext_lazy("When a visit is booked or moved."),
        gettext_lazy("Your visit is booked: %(company)s"),
        gettext_lazy(
            "Your visit is booked. If you don't have the time and place, contact"
            " %(company)s."
        ),
    ),
    NoticeKind.VISIT_CANCELLED: (
        gettext_lazy("When a visit is cancelled."),
        gettext_lazy("Your visit was cancelled: %(company)s"),
        gettext_lazy("Your visit was cancelled. Contact %(company)s to book another."),
    ),
    NoticeKind.RESULTS_READY: (
        gettext_lazy("When an order is complete; not of critical results."),
        gettext_lazy("Your lab order is complete: %(company)s"),
        gettext_lazy(
            "The lab has finished your order. Contact %(company)s about your results."
        ),
    ),
}

MAILS = {
    kind.value: MailKind(
        rank=30 + at,
        title=kind.label,
        says=says,
        text=MailText(subject, (body,)),
        placeholders=("company",),
        switch=_SWITCH,
    )
    for at, (kind, (says, subject, body)) in enumerate(_NOTICES.items())
}
