"""Index the orders that need attention, which every page of the dashboard counts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("labs", "0032_moved_orders_keep_samples")]

    operations = [
AddIndexConcurrently(model_name="order", index=models.Index(condition=models.Q(("moved_from", ""),
("status__in", [
"cancelled.testkit.do_not_process",
"collecting_sample.at_home_phlebotomy.appointment_cancelled",
"collecting_sample.at_home_phlebotomy.appointment_pending",
"collecting_sample.testkit.problem_in_transit_customer",
"collecting_sample.testkit.problem_in_transit_lab",
"collecting_sample.walk_in_test.appointment_cancelled",
"collecting_sample.walk_in_test.appointment_pending",
"collecting_sample.walk_in_test.redraw_available",
"failed.at_home_phlebotomy.sample_error",
"failed.on_site_collection.sample_error",
"failed.testkit.failure_to_deliver_to_customer",
"failed.testkit.failure_to_deliver_to_lab",
"failed.testkit.lost",
"failed.testkit.sample_error",
"failed.walk_in_test.sample_error",
"sample_with_lab.testkit.lab_processing_blocked",
]),), fields=['tenant', 'status', 'updated_at'], include=('id', 'user'), name="order_held_up_or_lost"),),
AddIndexConcurrently(model_name="order", index=models.Index(condition=models.Q(("moved_from", ""),
("status__in", [
"collecting_sample.at_home_phlebotomy.draw_completed",
"sample_with_lab.at_home_phlebotomy.partial_results",
"sample_with_lab.on_site_collection.draw_completed",
"sample_with_lab.on_site_collection.partial_results",
"sample_with_lab.testkit.delivered_to_lab",
"sample_with_lab.testkit.lab_processing_blocked",
"sample_with_lab.walk_in_test.partial_results",
]),
("worst_case_due_by__isnull", False),), fields=['tenant', 'worst_case_due_by'], include=('id', 'user'), name="order_due_from_lab"),),
    ]
