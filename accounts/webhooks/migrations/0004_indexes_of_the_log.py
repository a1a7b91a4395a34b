from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes that hold what the log of deliveries is narrowed by."""

    atomic = False

    dependencies = [("webhooks", "0003_replays")]

    operations = [
        AddIndexConcurrently(
            model_name='attempt',
            index=models.Index(fields=['endpoint', 'started_at'], include=('succeeded', 'total_ms'), name='attempt_in_time'),
        ),
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(fields=['endpoint', '-created_at', '-id'], include=('status', 'attempts'), name='delivery_in_log'),
        ),
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(fields=['endpoint', 'status', '-created_at', '-id'], name='delivery_in_status'),
        ),
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(fields=['endpoint', 'event_type', '-created_at', '-id'], name='delivery_of_type'),
        ),
        AddIndexConcurrently(
            model_name='event',
            index=models.Index(fields=['tenant', 'client_user_id'], name='event_by_client_user'),
        ),
        RemoveIndexConcurrently(
            model_name='attempt',
            name='attempt_by_endpoint',
        ),
        RemoveIndexConcurrently(
            model_name='delivery',
            name='delivery_by_endpoint',
        ),
    ]
