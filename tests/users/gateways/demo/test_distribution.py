"""Samples can be spread over machines by user: docs/explanation/scale.md."""

from __future__ import annotations

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db

DISTRIBUTED = [
    "users_origin",
    "users_packedday",
    "users_sample",
    "users_sampleextra",
]
# A number of Django's that nothing refers to: it goes when the table is distributed.
SURROGATES = {("users_origin", "id")}

KEYS = """
    SELECT c.relname, a.attname
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    WHERE i.indisunique AND c.relname = ANY(%s)
"""
REFERENCES = """
    SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
    WHERE contype = 'f'
        AND (conrelid::regclass::text = ANY(%s) OR confrelid::regclass::text = ANY(%s))
"""


def test_every_key_of_what_is_distributed_leads_with_the_user():
    with connection.cursor() as cursor:
        cursor.execute(KEYS, [DISTRIBUTED])
        keys = set(cursor.fetchall())
        cursor.execute(REFERENCES, [DISTRIBUTED, DISTRIBUTED])
        references = cursor.fetchall()

    assert keys - SURROGATES == {(table, "user_id") for table in DISTRIBUTED}
    assert references == []
