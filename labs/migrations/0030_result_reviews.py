"""Record who has reviewed results."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0013_hidden_guides'),
        ('labs', '0029_older_record_numbers'),
        ('portal', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ResultReview',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('member_name', models.CharField(max_length=254)),
                ('reviewed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('member', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('version', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='review', to='labs.resultversion')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        *enable_tenant_row_security('labs_resultreview'),
    ]
