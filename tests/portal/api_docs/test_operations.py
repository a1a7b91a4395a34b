from __future__ import annotations

from accounts.webhooks.catalogue import load_event_types
from portal.api_docs.operations import (
    DESCRIPTIONS,
    EVENTS,
    TASKS,
    list_events_of_operation,
    list_operations,
)
from tests.contract.document import document


def test_every_operation_has_a_task_and_a_text():
    tasks = {task.name for task in TASKS}
    operations = [each for _, _, each in list_operations(document())]

    assert [each["operationId"] for each in operations if not each["description"]] == []
    assert {tuple(each["tags"]) for each in operations} == {(name,) for name in tasks}
    names = {each["operationId"] for each in operations}
    assert (DESCRIPTIONS.keys() | EVENTS.keys()) - names == set()


def test_every_event_of_an_operation_is_in_the_catalogue():
    known = set(load_event_types())
    told = {
        event
        for _, _, each in list_operations(document())
        for event in list_events_of_operation(each["operationId"])
    }

    assert {each for each in told if "{" not in each} - known == set()
