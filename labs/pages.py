"""What the labs app contributes to pages that show several apps."""

from __future__ import annotations

from accounts.declarations.pages import (
    Destination,
    FirstStep,
    NavGroup,
    NavLink,
    PageContributions,
    Search,
    UserColumn,
    UserTabCount,
)
from accounts.states import Area
from labs.queries.orders.order_list import count_orders_per_user
from labs.queries.population import orders, orders_of_user
from labs.web.catalogue.palette import search_catalogue
from labs.web.columns import LISTS
from labs.web.inbound.overview import (
    build_unmatched_report_nav_count,
    build_unmatched_report_overview_item,
)
from labs.web.orders.overview import (
    build_critical_nav_count,
    build_orders_nav_count,
    build_orders_overview,
)
from labs.web.orders.palette import reopen_orders, search_orders_by_id
from labs.web.orders.user_record import build_user_record_part
from labs.web.physicians.approvals import build_approvals_nav_count
from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column

# Further pages of the palette.
_PLACES = (
    (33, gettext_lazy("Kit stock"), "list", "labs:kit_stock", Area.CATALOGUE),
    (34, gettext_lazy("Lab accounts"), "building", "labs:accounts", Area.CATALOGUE),
    (36, gettext_lazy("Calendars"), "calendar", "labs:calendars", Area.BOOKINGS),
    (37, gettext_lazy("Physicians"), "users", "labs:physicians", Area.CATALOGUE),
    (38, gettext_lazy("Lab tests"), "flask", "labs:tests", Area.CATALOGUE),
    (39, gettext_lazy("Markers"), "vial", "labs:markers", Area.CATALOGUE),
    (40, gettext_lazy("Own catalog"), "vial", "labs:own_catalogue", Area.CATALOGUE),
    (66, gettext_lazy("Courier"), "hook", "labs:courier", Area.API_KEYS),
    (78, gettext_lazy("Results to your system"), "flask", "labs:own_system", Area.TEAM),
    (80, gettext_lazy("Text messages"), "message", "labs:texts", Area.TEAM),
)
PAGES = PageContributions(
    navigation=(
        NavLink(
            group=NavGroup.LABS,
            rank=10,
            section="orders",
            words=gettext_lazy("Orders"),
            icon="flask",
            path_name="labs:orders",
            areas=(Area.ORDERS,),
            count=build_orders_nav_count,
            shortcut="g o",
            shortcut_words=gettext_lazy("Go to orders"),
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=15,
            section="approvals",
            words=gettext_lazy("Approvals"),
            icon="check",
            path_name="labs:approvals",
            areas=(Area.APPROVE_ORDERS,),
            count=build_approvals_nav_count,
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=20,
            section="visits",
            words=gettext_lazy("Visits"),
            icon="calendar",
            path_name="labs:visits",
            areas=(Area.ORDERS, Area.BOOKINGS),
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=30,
            section="critical",
            words=gettext_lazy("Critical results"),
            icon="alert",
            path_name="labs:critical",
            areas=(Area.ORDERS,),
            count=build_critical_nav_count,
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=40,
            section="unmatched",
            words=gettext_lazy("Unmatched results"),
            icon="doc",
            path_name="labs:unmatched",
            areas=(Area.ORDERS,),
            count=build_unmatched_report_nav_count,
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=70,
            section="lab_accounts",
            words=gettext_lazy("Lab accounts"),
            icon="vial",
            path_name="labs:accounts",
            areas=(Area.CATALOGUE,),
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=80,
            section="lab_tests",
            words=gettext_lazy("Tests and markers"),
            icon="list",
            path_name="labs:tests",
            areas=(Area.CATALOGUE,),
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=90,
            section="courier",
            words=gettext_lazy("Courier"),
            icon="hook",
            path_name="labs:courier",
            areas=(Area.API_KEYS,),
        ),
    ),
    destinations=(
        Destination(
            25,
            gettext_lazy("Orders"),
            "flask",
            "labs:orders",
            area=Area.ORDERS,
            keeps_views=True,
        ),
        Destination(
            26,
            gettext_lazy("Orders that need attention"),
            "alert",
            "labs:orders",
            "tab=attention",
            area=Area.ORDERS,
        ),
        Destination(
            27,
            gettext_lazy("Critical results"),
            "alert",
            "labs:critical",
            area=Area.ORDERS,
        ),
        Destination(
            28, gettext_lazy("Visits"), "calendar", "labs:visits", area=Area.BOOKINGS
        ),
        Destination(
            29,
            gettext_lazy("Unmatched results"),
            "vial",
            "labs:unmatched",
            area=Area.ORDERS,
        ),
        *(
            Destination(rank, words, icon, path_name, area=area)
            for rank, words, icon, path_name, area in _PLACES
        ),
        Destination(
            110,
            gettext_lazy("New order"),
            "plus",
            "labs:place_order",
            area=Area.ORDERS,
            write=True,
            is_action=True,
            on_overview=True,
        ),
        Destination(
            111,
            gettext_lazy("Import order"),
            "upload",
            "labs:import_order",
            area=Area.ORDERS,
            write=True,
            is_action=True,
        ),
        Destination(
            112,
            gettext_lazy("Import shipment events"),
            "upload",
            "labs:shipment_file",
            area=Area.SHIPMENTS,
            write=True,
            is_action=True,
        ),
    ),
    searches=(
        Search(
            20,
            "orders",
            gettext_lazy("Orders"),
            "flask",
            Area.ORDERS,
            search_orders_by_id,
            subject="order",
            reopen=reopen_orders,
        ),
        Search(
            40,
            "catalogue",
            gettext_lazy("Tests and markers"),
            "vial",
            Area.CATALOGUE,
            search_catalogue,
        ),
    ),
    overview=(build_orders_overview, build_unmatched_report_overview_item),
    user_columns=(
        UserColumn(
            Column(
                "orders",
                gettext_lazy("Orders"),
                "orders",
                is_number=True,
                is_down_first=True,
            ),
            Area.ORDERS,
            count_orders_per_user,
        ),
    ),
    user_tabs=(
        UserTabCount("orders", Area.ORDERS, lambda *of: (orders_of_user(*of),)),
    ),
    lists=LISTS,
    first_steps=(
        FirstStep(
            rank=50,
            key="order",
            title=gettext_lazy("Order a test"),
            says=gettext_lazy("Choose the patient, the tests and the lab account."),
            icon="flask",
            area=Area.ORDERS,
            path_name="labs:place_order",
            verb=gettext_lazy("New order"),
            rows=lambda tenant: (orders(tenant),),
        ),
    ),
    user_record=(build_user_record_part,),
)
