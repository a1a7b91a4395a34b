"""Let teams word the mails in their name."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0017_languages'),
        ('portal', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='MailText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('language', models.CharField(max_length=10)),
                ('subject', models.CharField(max_length=150)),
                ('body', models.TextField()),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'email text',
                'verbose_name_plural': 'email texts',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('tenant', 'kind', 'language'), name='mail_text_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        *enable_tenant_row_security("accounts_mailtext"),
    ]
