"""What the OpenAPI document says of each operation: its task, text and events.

A table beside the document, by `operation_id`; `complete_document` writes it in, as a
hook of the generator. A test fails for an operation that no task has or that has no
text, and for an entry that no operation has.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the API reference; its operations are those below one of `prefixes`."""

    slug: str
    name: str
    description: str
    prefixes: tuple[str, ...]


# An operation belongs to the task with the longest prefix of its path.
TASKS = (
    Task(
        "users",
        "Users",
        "Create, find, change and delete the people whose data you keep.",
        ("/v2/user", "/v2/team/users"),
    ),
    Task(
        "sources",
        "Sources",
        "Connect wearables and apps, and see what arrived from them.",
        (
            *("/v2/providers", "/v2/link", "/v2/introspect", "/v2/user/providers"),
            "/v2/team/source",
            *("/v2/user/refresh", "/v2/user/{user_id}/device"),
            *("/v2/user/{user_id}/{provider}", "/v2/user/{user_id}/completeness"),
            "/v2/user/{user_id}/phone",
        ),
    ),
    Task(
        "demographics",
        "Demographics and insurance",
        "Read and write what a laboratory needs to know of a patient.",
        ("/v2/user/{user_id}/info", "/v2/user/{user_id}/insurance"),
    ),
    Task(
        "summaries",
        "Summaries",
        "Records of a day, night, session or cycle.",
        ("/v2/summary",),
    ),
    Task(
        "timeseries",
        "Samples",
        "Samples with a time, a value and a unit, and aggregates of them.",
        ("/v2/timeseries", "/v2/aggregate"),
    ),
    Task(
        "lab-tests",
        "Lab tests",
        "Laboratories, what they measure, and the tests that can be ordered.",
        ("/v3/lab_test", "/v3/lab_tests", "/v3/compendium"),
    ),
    Task(
        "orders",
        "Orders",
        "Place, import, change and cancel lab test orders, and follow kits.",
        ("/v3/order", "/v3/orders", "/v3/order_transaction", "/v2/team/{team_id}/p"),
    ),
    Task(
        "appointments",
        "Service centers and appointments",
        "Find where a sample can be taken, and book visits.",
        (
            *("/v3/order/psc", "/v3/order/phlebotomy", "/v3/order/area"),
            *("/v3/order/{order_id}/psc", "/v3/order/{order_id}/phlebotomy"),
        ),
    ),
    Task(
        "results",
        "Results",
        "Read results, and decide about those that match no order.",
        (
            *("/v3/order/{order_id}/result", "/v3/unmatched_result"),
            "/v3/order_transaction/{transaction_id}/result",
        ),
    ),
    Task(
        "insurance",
        "Insurers and diagnoses",
        "Search insurers and diagnosis codes, and check codes.",
        ("/v3/insurance", "/v3/payor"),
    ),
    Task(
        "lab-reports",
        "Lab reports",
        "Read biomarkers out of uploaded PDFs and photos.",
        ("/lab_report/v1",),
    ),
    Task(
        "events",
        "Events",
        "Read what happened, in order, where you do not receive webhooks.",
        ("/v2/events",),
    ),
    Task(
        "team",
        "Team",
        "The team that an API key belongs to.",
        ("/v2/team/{team_id}",),
    ),
    Task(
        "management",
        "Organization",
        "Teams, keys, members and lab accounts, with a management key.",
        ("/v1/org",),
    ),
    Task(
        "webhooks",
        "Webhook endpoints",
        "Where events are sent, with a management key.",
        ("/v1/org/{org_id}/team/{team_id}/{environment}/webhook",),
    ),
)
_BY_PREFIX = sorted(
    ((prefix, task) for task in TASKS for prefix in task.prefixes),
    key=lambda each: -len(each[0]),
)

# Of operations whose function says no more than its name.
DESCRIPTIONS = {
    "create_parsing_job": "Send one PDF, or images of the pages in order. The job is "
    "worked on in the background: read it until its status is final, or receive "
    "lab_report.parsing_job.updated.",
    "get_parsing_job": "The job with its status and, once it is completed, the results "
    "that were read.",
    "release_parsing_job": "A job that a check held back is completed with what was "
    "read.",
    "reject_parsing_job": "A job that a check held back ends without results.",
    "list_outside_reports": "Newest first, from the health records that a user "
    "imported. Nobody on your team has reviewed them, and they are not results of an "
    "order.",
    "create_unmatched_document": "The document, which is read by a worker. It becomes "
    "a report of its order, or waits for a member.",
    "list_unmatched_documents": "A page of documents without patient details, and "
    "their number.",
    "get_unmatched_document": "A document with what it prints and the orders that it "
    "may belong to.",
    "match_unmatched_document": "A document that is a report of the order now.",
    "reject_unmatched_document": "A document that belongs to no order.",
    "move_parsing_job": "A job that is pending review belongs to another order of its "
    "user, or to none.",
    "list_critical_limits": "The limits that values of lab reports are judged by: "
    "what ships, and what the team changed. A value at a limit or beyond is critical.",
    "create_critical_limit": "A limit of the team's own, for a marker, unit, ages and "
    "sex. It decides before the limits that ship.",
    "update_critical_limit": "Other bounds of a limit; without both it is off. New "
    "reports are judged by them.",
    "revert_critical_limit": "A changed limit gets the bounds that ship, and one that "
    "the team added is removed.",
    "get_organisation": "The organization that the management key belongs to.",
    "get_managed_team": "A team with its settings by environment.",
    "get_webhook": "An endpoint without its secret and header values.",
    "get_webhook_secret": "The secret that deliveries are signed with. Each reading is "
    "in the audit log.",
    "introspect_historical_pulls": "For each user and source, which resources' past "
    "was read, is being read, or could not be read.",
    "introspect_resources": "For each user and source, the last attempt, the oldest "
    "and newest data and how much was sent.",
    "list_providers": "All sources that this installation can connect, with the "
    "resources that each gives.",
    "get_team": "The name and logo of the team. Another team's ID is not found.",
    "list_team_physicians": "Each physician once, as named on the team's orders.",
    "list_users": "Pages by offset, in the order users were created.",
    "create_user": "Send an ID of your own that says nothing about the person. A taken "
    "ID is refused with the user that has it.",
    "get_user": "A user with the connected sources.",
    "change_user": "Fields that you do not send stay as they are; null clears.",
    "delete_user": "The user vanishes from reads at once and the sources are "
    "disconnected. The data is erased after 7 days.",
    "disconnect_provider": "Ends the connection. Data that arrived stays, and new data "
    "is no longer read.",
    "list_devices": "Devices that sent data, or that a source listed.",
    "get_device": "A device of the user.",
    "record_user_info": "Replaces the record: send every required field each time.",
    "get_latest_user_info": "What was last recorded; not found before that.",
    "record_user_insurance": "One primary and one other insurance are kept; each is "
    "replaced as a whole.",
    "get_latest_user_insurance": "The primary insurance, or with is_primary=false the "
    "other.",
    "list_user_providers": "Each connected source with its status, and per resource "
    "what the user granted.",
    "undo_delete_user": "Within 7 days of the deletion. Sources stay disconnected.",
    "search_diagnoses": "ICD-10-CM codes by the beginning of the code or by words of "
    "the description.",
    "search_payors": "Insurers by name, clearing house and the insurer's ID there.",
    "legacy_search_payors": "Use GET of the same path.",
    "validate_icd_codes": "Says which codes are valid, and which cannot be together.",
    "list_lab_tests": "Pages by cursor; filters combine.",
    "get_lab_test_collection_instruction_pdf": "Not found where the test has none.",
    "list_lab_accounts": "The team's accounts at laboratories, and where each may "
    "bill.",
    "legacy_list_lab_tests": "All in one list. Use GET /v3/lab_test.",
    "create_lab_test": "Choose markers by ID or by the lab's codes. The test can be "
    "ordered once it is approved.",
    "get_lab_marker": "A marker by the code that the lab uses.",
    "get_lab_test": "A lab test with its markers.",
    "update_lab_test": "Orders that were placed with an archived test go on.",
    "list_lab_test_markers": "The markers of a test, with those that a result may "
    "lead to.",
    "list_labs": "Laboratories that this installation knows.",
    "estimate_order_set_pricing": "What the lab charges the team, by marker. A price "
    "that is not known is said to be, and so is the whole then; it is never 0.",
    "list_order_set_markers": "The markers that an order with this order set would "
    "measure.",
    "list_markers": "Markers of all labs, or of one.",
    "create_order": "Send X-Idempotency-Key: a call that is repeated with it is "
    "answered like the first. The lab account is chosen for you where only one is "
    "active.",
    "get_order": "An order with its events, oldest first.",
    "update_order": "Only before the order starts.",
    "get_abn_pdf": "Assay makes no such notice; the path exists for client libraries.",
    "cancel_order": "Refused once the lab has the sample.",
    "get_order_collection_instruction_pdf": "Not found where the test has none.",
    "get_order_communication_settings": "Whether the patient receives texts.",
    "complete_draw": "For on-site collection.",
    "get_labels_pdf": "Labels for the tubes of the order.",
    "get_phlebotomy_appointment": "The visit that is booked, or the last one.",
    "book_phlebotomy_appointment": "Send a booking key of a free slot.",
    "cancel_phlebotomy_appointment": "Send one of the cancellation reasons.",
    "request_phlebotomy_appointment": "Asks a provider that gives no slots; it "
    "schedules the visit itself.",
    "reschedule_phlebotomy_appointment": "The current time is kept until the new one "
    "is confirmed.",
    "get_psc_appointment": "The appointment that is booked, or the last one.",
    "book_psc_appointment": "Send a booking key of a free slot, and X-Idempotency-Key.",
    "cancel_psc_appointment": "Send one of the cancellation reasons.",
    "reschedule_psc_appointment": "The current time is kept until the new one is "
    "confirmed.",
    "get_order_psc_info": "Nearest first, within a radius in miles.",
    "recreate_order": "Cancels the order where it can and places another with what you "
    "send in place of the old.",
    "get_requisition_pdf": "Not found before the requisition is created.",
    "get_order_result": "What the lab has reported so far.",
    "get_order_result_metadata": "Who was tested, by which lab, and when.",
    "simulate_order": "Sandbox only. Without a status the order runs to its results.",
    "get_area_info": "Which phlebotomists and labs serve a ZIP code.",
    "create_order_at_create": "The same as POST /v3/order.",
    "import_order": "The lab already has the requisition; sample_id is once per lab.",
    "get_phlebotomy_appointment_availability": "Times of day are local to the address.",
    "get_phlebotomy_appointment_cancellation_reason": "Reasons to send with a "
    "cancellation.",
    "get_psc_appointment_availability": "Times are local to each service center.",
    "get_psc_appointment_cancellation_reason": "Reasons to send with a cancellation.",
    "get_psc_info": "Nearest first, within a radius in miles.",
    "resend_order_events": "The events get new message IDs.",
    "create_testkit_order": "The kit is shipped now and registered to a patient later.",
    "register_testkit": "By the ID on the kit. The order then goes on as any other.",
    "get_order_transaction": "All orders that replaced each other.",
    "get_order_transaction_result": "For each marker the newest result of all orders.",
    "get_order_transaction_result_pdf": "One PDF of the combined results.",
    "list_orders": "Filters combine; newest first.",
    "search_compendium": "By name, code or words; each test once, with the labs that "
    "do it.",
    "convert_compendium": "For tests of one lab, the nearest tests of another.",
    "search_orderable_tests": "For codes of other labs, the tests that the lab has.",
    "create_payor": "For an insurer that no search finds.",
}

_ORDER = ("labtest.order.created", "labtest.order.updated")
_VISIT = ("labtest.appointment.created", "labtest.appointment.updated")
# The types of event that an operation can lead to, at once or by its job.
EVENTS = {
    "create_order": _ORDER,
    "create_order_at_create": _ORDER,
    "import_order": _ORDER,
    "create_testkit_order": _ORDER,
    "recreate_order": _ORDER,
    "replace_order_kit": _ORDER,
    "register_testkit": ("labtest.order.updated",),
    "update_order": ("labtest.order.updated",),
    "cancel_order": ("labtest.order.updated", "labtest.appointment.updated"),
    "complete_draw": ("labtest.order.updated",),
    "create_order_shipment_event": (
        "labtest.order.updated",
        "labtest.order_tracking.updated",
    ),
    "simulate_order": ("labtest.order.updated", "labtest.result.critical"),
    "resend_order_events": _ORDER,
    "book_psc_appointment": (*_VISIT, "labtest.order.updated"),
    "book_phlebotomy_appointment": (*_VISIT, "labtest.order.updated"),
    "request_phlebotomy_appointment": (*_VISIT, "labtest.order.updated"),
    "reschedule_psc_appointment": ("labtest.appointment.updated",),
    "reschedule_phlebotomy_appointment": ("labtest.appointment.updated",),
    "cancel_psc_appointment": ("labtest.appointment.updated", "labtest.order.updated"),
    "cancel_phlebotomy_appointment": (
        "labtest.appointment.updated",
        "labtest.order.updated",
    ),
    "accept_unmatched_result": (
        "labtest.match_review.updated",
        "labtest.order.updated",
        "labtest.result.critical",
    ),
    "resolve_unmatched_result": ("labtest.match_review.updated",),
    "create_parsing_job": (
        "lab_report.parsing_job.created",
        "lab_report.parsing_job.updated",
    ),
    "release_parsing_job": ("lab_report.parsing_job.updated",),
    "reject_parsing_job": ("lab_report.parsing_job.updated",),
    "move_parsing_job": ("lab_report.parsing_job.updated",),
    "create_unmatched_document": (
        "lab_report.unmatched_document.created",
        "lab_report.parsing_job.created",
    ),
    "match_unmatched_document": (
        "lab_report.unmatched_document.updated",
        "lab_report.parsing_job.created",
    ),
    "reject_unmatched_document": ("lab_report.unmatched_document.updated",),
    "connect_demo_source": ("provider.connection.created",),
    "record_workout_stream": (
        "daily.data.workout_stream.created",
        "daily.data.workout_stream.updated",
    ),
    "record_samples": (
        "daily.data.{resource}.created",
        "daily.data.{resource}.updated",
        "provider.connection.created",
    ),
}
_RECORDED = "_summaries"


def list_events_of_operation(operation_id: str) -> tuple[str, ...]:
    """Return the types of event that an operation can lead to."""
    if operation_id.startswith("record_") and operation_id.endswith(_RECORDED):
        kind = operation_id.removeprefix("record_").removesuffix(_RECORDED)
        made = (f"daily.data.{kind}.created", f"daily.data.{kind}.updated")
        return (*made, "provider.connection.created")
    return EVENTS.get(operation_id, ())


def find_task_of_path(path: str) -> Task | None:
    """Return the task of a path: the one with the longest prefix of it."""
    return next((task for prefix, task in _BY_PREFIX if path.startswith(prefix)), None)


def list_operations(document: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield path, method and operation of a document."""
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield path, method, methods[method]


def complete_document(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Write tasks, texts and events into the document, as a hook of the generator."""
    for path, _method, operation in list_operations(result):
        name = operation["operationId"]
        task = find_task_of_path(path)
        operation["tags"] = [task.name] if task else []
        text = operation.get("description") or DESCRIPTIONS.get(name, "")
        operation["description"] = text
        for status, answer in operation["responses"].items():
            answer["description"] = (
                answer.get("description") or HTTPStatus(int(status)).phrase
            )
        # Of keys that are no OAuth the scopes are an extension: tools ask for a list.
        for needed in operation["security"]:
            for scheme, scopes in needed.items():
                if scopes:
                    operation["x-scopes"] = scopes
                needed[scheme] = []
        if events := list_events_of_operation(name):
            operation["x-events"] = list(events)
    result["tags"] = [
        {"name": task.name, "description": task.description} for task in TASKS
    ]
    return result
