"""What the reports app contributes to pages that show several apps."""

from __future__ import annotations

from accounts.declarations.pages import (
    Destination,
    FirstStep,
    NavGroup,
    NavLink,
    PageContributions,
    Search,
    UserTabCount,
)
from accounts.states import Area
from portal.lib.translation import gettext_lazy
from reports.queries.jobs import JobFilters, list_parsing_jobs
from reports.queries.outside import reports_of_user
from reports.web.columns import LISTS
from reports.web.jobs.overview import (
    build_reports_overview_part,
    count_documents_to_match,
    count_reports_needing_attention,
)
from reports.web.jobs.palette import find_reports_by_id, reopen_reports
from reports.web.jobs.user_record import build_user_record_part
from reports.web.review.queue import build_reviews_nav_count

PAGES = PageContributions(
    lists=LISTS,
    navigation=(
        NavLink(
            group=NavGroup.LABS,
            rank=45,
            section="documents",
            words=gettext_lazy("Unmatched documents"),
            icon="doc",
            path_name="reports:documents",
            areas=(Area.ORDERS, Area.REPORTS),
            count=count_documents_to_match,
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=50,
            section="reports",
            words=gettext_lazy("Reports"),
            icon="scan",
            path_name="reports:list",
            areas=(Area.REPORTS,),
            count=count_reports_needing_attention,
            shortcut="g r",
            shortcut_words=gettext_lazy("Go to reports"),
        ),
        NavLink(
            group=NavGroup.LABS,
            rank=60,
            section="reviews",
            words=gettext_lazy("Reviews"),
            icon="eye",
            path_name="reports:reviews",
            areas=(Area.SIGN_REPORTS,),
            write=True,
            count=build_reviews_nav_count,
        ),
    ),
    destinations=(
        Destination(
            30,
            gettext_lazy("Reports"),
            "scan",
            "reports:list",
            area=Area.REPORTS,
            keeps_views=True,
        ),
        Destination(
            31,
            gettext_lazy("Open reports"),
            "clock",
            "reports:list",
            "tab=open",
            area=Area.REPORTS,
        ),
        Destination(
            32,
            gettext_lazy("Reviews"),
            "eye",
            "reports:reviews",
            area=Area.SIGN_REPORTS,
            write=True,
        ),
        Destination(
            81, gettext_lazy("Reports by mail"), "scan", "reports:mail", area=Area.TEAM
        ),
        Destination(
            41,
            gettext_lazy("LOINC mappings"),
            "list",
            "reports:aliases",
            area=Area.SIGN_REPORTS,
        ),
        Destination(
            77,
            gettext_lazy("Critical limits"),
            "bolt",
            "reports:critical_limits",
            area=Area.TEAM,
        ),
        Destination(
            100,
            gettext_lazy("Upload report"),
            "upload",
            "reports:upload",
            area=Area.REPORTS,
            write=True,
            is_action=True,
            on_overview=True,
        ),
    ),
    searches=(
        Search(
            30,
            "reports",
            gettext_lazy("Reports"),
            "scan",
            Area.REPORTS,
            find_reports_by_id,
            subject="parsing_job",
            reopen=reopen_reports,
        ),
    ),
    overview=(build_reports_overview_part,),
    first_steps=(
        FirstStep(
            rank=60,
            key="report",
            title=gettext_lazy("Upload a lab report"),
            says=gettext_lazy("The values of a PDF or photo are read for review."),
            icon="scan",
            area=Area.REPORTS,
            path_name="reports:upload",
            verb=gettext_lazy("Upload report"),
            rows=lambda tenant: (
                list_parsing_jobs(tenant=tenant, filters=JobFilters()),
            ),
        ),
    ),
    user_tabs=(UserTabCount("reports", Area.REPORTS, reports_of_user),),
    user_record=(build_user_record_part,),
)
