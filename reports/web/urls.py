"""The pages of reports; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import path

from reports.web import views

app_name = "reports"
urlpatterns = [
    path("reports/", views.report_list, name="list"),
    path("reports/upload/", views.upload, name="upload"),
    path("reports/<str:job_id>/", views.report_page, name="page"),
    path("users/<str:user_id>/reports/", views.user_reports, name="of_user"),
]
