"""The demo data of lab testing, in the order in which it is loaded."""

from __future__ import annotations

from labs.demo.accounts import load_demo_lab_accounts
from labs.demo.appointments import load_demo_appointments
from labs.demo.inbound import load_demo_lab_messages
from labs.demo.orders import load_demo_orders

# Orders are placed on the accounts, and the messages are of those orders. Visits come
# last: the messages are of an order without a visit.
LOADERS = (
    load_demo_lab_accounts,
    load_demo_orders,
    load_demo_lab_messages,
    load_demo_appointments,
)
