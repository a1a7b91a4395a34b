"""The pages of users; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import path

from users.web import summaries, views

app_name = "users"
urlpatterns = [
    path("users/", views.user_list, name="list"),
    path("users/file/", views.user_file, name="file"),
    path("users/resolve/", views.resolve, name="resolve"),
    path("users/<str:user_id>/", views.user_page, name="page"),
    path("users/<str:user_id>/summaries/", summaries.summaries, name="summaries"),
]
