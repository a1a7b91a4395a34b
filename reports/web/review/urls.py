"""The addresses of the review desk, below `reviews/`."""

from __future__ import annotations

from django.urls import path

from reports.web.review import additions, bulk, changes, desk, queue

_ROW = "<str:review_id>/rows/<int:position>/"
urlpatterns = [
    path("", queue.list_reviews, name="reviews"),
    path("selected/", bulk.act_on_reviews, name="bulk_reviews"),
    path("<str:review_id>/", desk.show_review_page, name="review"),
    path(
        "<str:review_id>/claim/",
        queue.claim_and_open_review,
        name="review_claim",
    ),
    path(
        "<str:review_id>/take-over/",
        queue.take_over_review_from_reviewer,
        name="review_take_over",
    ),
    path(
        "<str:review_id>/release/",
        queue.release_review_to_queue,
        name="review_release",
    ),
    path(
        "<str:review_id>/identity/",
        desk.confirm_report_user_or_move_report,
        name="review_identity",
    ),
    path(
        "<str:review_id>/duplicate/",
        desk.keep_or_replace_duplicate_report,
        name="review_duplicate",
    ),
    path(
        "<str:review_id>/pages/<int:page>/",
        desk.record_page_viewed_by_reviewer,
        name="review_page_shown",
    ),
    path(
        "<str:review_id>/panel/",
        changes.confirm_unflagged_rows_of_panel,
        name="review_panel",
    ),
    path("<str:review_id>/rows/", additions.add_report_row, name="review_add"),
    path(f"{_ROW}edit/", changes.edit_report_row_text, name="review_edit"),
    path(
        f"{_ROW}understood/",
        changes.preview_parsing_of_typed_text,
        name="review_understood",
    ),
    path(f"{_ROW}loinc/", changes.choose_row_loinc_code, name="review_loinc"),
    path(f"{_ROW}exclude/", changes.exclude_report_row, name="review_exclude"),
    path(f"{_ROW}comment/", changes.comment_on_report_row, name="review_comment"),
    path(f"{_ROW}split/", additions.split_report_row, name="review_split"),
    path(
        f"{_ROW}merge/",
        additions.merge_report_row_with_next,
        name="review_merge",
    ),
    path(f"{_ROW}redraw/", changes.set_row_position_on_page, name="review_redraw"),
    path(f"{_ROW}confirm/", changes.confirm_row, name="review_confirm"),
    path(f"{_ROW}undo/", changes.undo_row_change, name="review_undo"),
]
