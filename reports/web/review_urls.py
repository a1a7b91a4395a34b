"""The addresses of the review desk, below `reviews/`."""

from __future__ import annotations

from django.urls import path

from reports.web import review_additions, review_changes, review_desk, review_queue

_ROW = "<str:review_id>/rows/<int:position>/"
urlpatterns = [
    path("", review_queue.review_list, name="reviews"),
    path("<str:review_id>/", review_desk.desk, name="review"),
    path("<str:review_id>/claim/", review_queue.claim, name="review_claim"),
    path("<str:review_id>/take-over/", review_queue.take_over, name="review_take_over"),
    path("<str:review_id>/release/", review_queue.release, name="review_release"),
    path("<str:review_id>/identity/", review_desk.identity, name="review_identity"),
    path("<str:review_id>/duplicate/", review_desk.duplicate, name="review_duplicate"),
    path(
        "<str:review_id>/pages/<int:page>/",
        review_desk.mark_page_viewed,
        name="review_page_shown",
    ),
    path("<str:review_id>/panel/", review_changes.confirm_panel, name="review_panel"),
    path("<str:review_id>/rows/", review_additions.add, name="review_add"),
    path(f"{_ROW}edit/", review_changes.edit, name="review_edit"),
    path(
        f"{_ROW}understood/", review_changes.preview_row_text, name="review_understood"
    ),
    path(f"{_ROW}loinc/", review_changes.loinc, name="review_loinc"),
    path(f"{_ROW}exclude/", review_changes.exclude, name="review_exclude"),
    path(f"{_ROW}comment/", review_changes.comment, name="review_comment"),
    path(f"{_ROW}split/", review_additions.split, name="review_split"),
    path(f"{_ROW}merge/", review_additions.merge, name="review_merge"),
    path(f"{_ROW}redraw/", review_changes.redraw, name="review_redraw"),
    *(
        path(
            f"{_ROW}{act}/",
            review_changes.confirm_or_undo,
            {"act": act},
            name="review_settle",
        )
        for act in review_changes.PLAIN_ACTS
    ),
]
