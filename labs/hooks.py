"""What apps below call in the labs app."""

from __future__ import annotations

from accounts.declarations.hooks import AppHooks
from labs.operations.appointments.changes import cancel_visits_of_deleted_user
from labs.operations.catalogue.reference_data import install_reference_panels
from labs.operations.erasure import erase_user_orders
from labs.operations.moving.orders import store_past_orders
from labs.queries.orders.user_tests import list_latest_tests_of_user

HOOKS = AppHooks(
    user_erasers=(erase_user_orders,),
    user_deletions=(cancel_visits_of_deleted_user,),
    tenant_setups=(install_reference_panels,),
    moved_order_keepers=(store_past_orders,),
    person_tests=(list_latest_tests_of_user,),
)
