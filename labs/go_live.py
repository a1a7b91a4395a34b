"""What orders and results of production need before a team goes live.

Copy a neighbour to add a check: what it may find is data here, how it looks is a
function of labs.operations.go_live.
"""

from __future__ import annotations

from accounts.declarations.go_live import (
    GoLiveCheck,
    GoLiveFinding,
    GoLiveGroup,
    GoLiveState,
)
from accounts.states import Area
from labs.operations.go_live import (
    read_critical_results,
    read_gateway,
    read_home_visits,
    read_kit_stock,
    read_lab_accounts,
    read_lab_tests,
    read_physician,
    read_service_centers,
    try_gateway,
)
from portal.lib.translation import gettext_lazy

_REFUSED = gettext_lazy("Orders are refused.")

GO_LIVE_CHECKS = (
    GoLiveCheck(
        name="lab_account",
        group=GoLiveGroup.LABS,
        rank=10,
        title=gettext_lazy("Lab account"),
        icon="building",
        read=read_lab_accounts,
        path_name="labs:accounts",
        path_words=gettext_lazy("Open lab accounts"),
        area=Area.CATALOGUE,
        findings={
            "active": GoLiveFinding(
                GoLiveState.READY, gettext_lazy("Active accounts: %(labs)s.")
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("The team has no lab account."),
                gettext_lazy("Add the account that your lab gave you."),
                _REFUSED,
            ),
            "inactive": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No account is active: %(labs)s."),
                gettext_lazy("Activate the account once your lab has set it up."),
                _REFUSED,
            ),
            "some_missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No active account for: %(labs)s."),
                gettext_lazy("Add an account of the lab, or archive its tests."),
                gettext_lazy("Orders for these labs are refused."),
            ),
        },
    ),
    GoLiveCheck(
        name="tests",
        group=GoLiveGroup.LABS,
        rank=15,
        title=gettext_lazy("Lab tests"),
        icon="vial",
        read=read_lab_tests,
        path_name="labs:tests",
        path_words=gettext_lazy("Open tests and markers"),
        area=Area.CATALOGUE,
        findings={
            "orderable": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("Tests that can be ordered: %(count)s."),
            ),
            "no_catalogue": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No lab's tests are imported."),
                gettext_lazy(
                    "An operator imports them with manage.py import_lab_catalogue."
                ),
                _REFUSED,
            ),
            "unapproved": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No panel is approved yet: %(panels)s."),
                gettext_lazy("An operator approves panels in the operator admin."),
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("The team has no panel."),
                gettext_lazy("Make one of the markers you order together."),
            ),
        },
    ),
    GoLiveCheck(
        name="gateway",
        group=GoLiveGroup.LABS,
        rank=20,
        title=gettext_lazy("Lab gateway"),
        icon="bolt",
        read=read_gateway,
        attempt=try_gateway,
        guide="guides/connect-a-lab",
        findings={
            "connected": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("Orders can be exchanged with: %(labs)s."),
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("This server is connected to no lab."),
                gettext_lazy("An operator sets LAB_GATEWAY."),
                _REFUSED,
            ),
            "no_account": GoLiveFinding(
                GoLiveState.NOT_TRIED,
                gettext_lazy("There is no active lab account to try it with."),
                gettext_lazy("Set up a lab account first."),
            ),
            "unavailable": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("Messages can't be exchanged with %(lab)s."),
                gettext_lazy(
                    "Check the connection of its lab account. For a folder, an"
                    " operator runs manage.py hl7_folders and checks that the server"
                    " may write to it."
                ),
            ),
            "no_mllp": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("No process exchanges messages with %(lab)s by MLLP."),
                gettext_lazy("An operator starts manage.py mllp."),
            ),
            "no_worker": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy(
                    "No worker is running: orders are not sent, and results are not"
                    " read."
                ),
                gettext_lazy("An operator starts manage.py worker."),
            ),
        },
    ),
    GoLiveCheck(
        name="physician",
        group=GoLiveGroup.LABS,
        rank=30,
        title=gettext_lazy("Physician"),
        icon="shield",
        read=read_physician,
        path_name="labs:accounts",
        path_words=gettext_lazy("Open lab accounts"),
        area=Area.CATALOGUE,
        findings={
            "delegated": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy(
                    "Your physicians order. Each order must name its physician."
                ),
            ),
            "platform": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy(
                    "Accounts of these labs leave ordering to platform physicians:"
                    " %(labs)s. Production has none."
                ),
                gettext_lazy(
                    "Name a physician on each order, or let your own physicians order"
                    " on the account."
                ),
                gettext_lazy("Orders that name no physician are refused."),
            ),
            "approves": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("Your physicians approve orders from: %(states)s."),
            ),
            "no_approver": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No physician of your team can approve orders."),
                gettext_lazy(
                    "Give a member the role Physician. They complete their profile and"
                    " add a signature under Approvals."
                ),
                _REFUSED,
            ),
            "no_account": GoLiveFinding(
                GoLiveState.NOT_TRIED,
                gettext_lazy("The lab account decides who orders."),
                gettext_lazy("Set up a lab account first."),
            ),
        },
    ),
    GoLiveCheck(
        name="service_centers",
        group=GoLiveGroup.LABS,
        rank=40,
        title=gettext_lazy("Service centers"),
        icon="pin",
        read=read_service_centers,
        guide="guides/connect-a-lab",
        findings={
            "imported": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("Service centers of your labs: %(count)s."),
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("Your labs have no service centers."),
                gettext_lazy(
                    "An operator imports them with manage.py import_service_centers."
                ),
                gettext_lazy("Visits can't be booked."),
            ),
            "no_walk_in": GoLiveFinding(
                GoLiveState.NOT_NEEDED,
                gettext_lazy("No test of the team is collected at a service center."),
            ),
        },
    ),
    GoLiveCheck(
        name="home_visits",
        group=GoLiveGroup.LABS,
        rank=45,
        title=gettext_lazy("Home visits"),
        icon="home",
        read=read_home_visits,
        path_name="labs:tests",
        path_words=gettext_lazy("Open tests and markers"),
        area=Area.CATALOGUE,
        findings={
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy(
                    "Production has no provider of home visits. Collected at home:"
                    " %(panels)s."
                ),
                gettext_lazy("Archive these tests."),
                gettext_lazy("Orders that are collected at home are refused."),
            ),
            "no_home_visits": GoLiveFinding(
                GoLiveState.NOT_NEEDED,
                gettext_lazy("No test of the team is collected at home."),
            ),
        },
    ),
    GoLiveCheck(
        name="kit_stock",
        group=GoLiveGroup.LABS,
        rank=50,
        title=gettext_lazy("Kit stock"),
        icon="truck",
        read=read_kit_stock,
        path_name="labs:kit_stock",
        path_words=gettext_lazy("Open kit stock"),
        area=Area.CATALOGUE,
        findings={
            "enough": GoLiveFinding(
                GoLiveState.READY, gettext_lazy("Kits in stock: %(count)s.")
            ),
            "low": GoLiveFinding(
                GoLiveState.LOW,
                gettext_lazy("Few kits are left: %(panels)s."),
                gettext_lazy("Order kits from your supplier, then enter the stock."),
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("The stock was not entered: %(panels)s."),
                gettext_lazy("Count the kits you have and enter the number."),
            ),
            "no_kits": GoLiveFinding(
                GoLiveState.NOT_NEEDED, gettext_lazy("No test of the team uses a kit.")
            ),
        },
    ),
    GoLiveCheck(
        name="critical_results",
        group=GoLiveGroup.SAFETY,
        rank=5,
        title=gettext_lazy("Critical results"),
        icon="alert",
        read=read_critical_results,
        path_name="team:settings",
        path_words=gettext_lazy("Open settings"),
        area=Area.TEAM,
        findings={
            "ready": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("Members who may acknowledge them: %(count)s."),
            ),
            "nobody": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No member may acknowledge a critical result."),
                gettext_lazy("Invite a clinician, or give a member that role."),
            ),
            "no_address": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy(
                    "No address is set that is mailed at once. Members are mailed"
                    " after %(minutes)s minutes."
                ),
                gettext_lazy("Enter the address for critical results."),
            ),
        },
    ),
)
