"""Let parts of IDs be looked for in an index that holds both, past the fence."""

from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [('users', '0023_record_numbers')]

    operations = [
        AddIndexConcurrently(
            model_name='user',
            index=models.Index(
                condition=models.Q(('deleted_at', None)),
                fields=['tenant', 'client_user_id'],
                include=('id', 'uuid', 'created_on'),
                name='user_live_by_ids',
            ),
        ),
        RemoveIndexConcurrently(
            model_name='user',
            name='user_live_by_part_of_id',
        ),
    ]
