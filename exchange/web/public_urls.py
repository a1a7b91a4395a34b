"""URLs of shared links for those who were given one, mounted at /shl/."""

from __future__ import annotations

from django.urls import path

from exchange.web import public

urlpatterns = [
    path("", public.show_shared_link_viewer, name="shared_viewer"),
    path("<str:share_token>", public.serve_shared_manifest, name="shared_manifest"),
    path(
        "<str:share_token>/<int:shared_file_number>",
        public.serve_shared_file,
        name="shared_file",
    ),
]
