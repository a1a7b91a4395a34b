"""Add mailboxes that receive reports, their mails, and unmatched documents."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import reports.states
import uuid
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the tables are made here"

    dependencies = [
        ('accounts', '0009_order_approval_notices'),
        ('labs', '0026_document_results'),
        ('portal', '0001_initial'),
        ('reports', '0006_critical_limits'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReportMailbox',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(max_length=254)),
                ('host', models.CharField(max_length=253)),
                ('port', models.PositiveIntegerField()),
                ('encryption', models.CharField(choices=reports.states.MailEncryption.offered, default='tls', max_length=20)),
                ('user_name', models.CharField(max_length=254)),
                ('password', models.TextField()),
                ('folder', models.CharField(default='INBOX', max_length=200)),
                ('handled_folder', models.CharField(blank=True, max_length=200)),
                ('senders', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=254), default=list, size=None)),
                ('uid_validity', models.PositiveBigIntegerField(default=0)),
                ('last_uid', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('polled_at', models.DateTimeField(null=True)),
                ('last_mail_at', models.DateTimeField(null=True)),
                ('failing_since', models.DateTimeField(null=True)),
                ('fault', models.CharField(blank=True, choices=reports.states.MailboxFault.offered, max_length=100)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'report mailbox',
                'verbose_name_plural': 'report mailboxes',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ReceivedMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('uid_validity', models.PositiveBigIntegerField()),
                ('uid', models.PositiveBigIntegerField()),
                ('sender_domain', models.CharField(blank=True, max_length=253)),
                ('outcome', models.CharField(choices=reports.states.MailOutcome.offered, max_length=100)),
                ('reason', models.CharField(blank=True, max_length=100)),
                ('received_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('decided_at', models.DateTimeField(null=True)),
                ('filed_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('mailbox', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='reports.reportmailbox')),
            ],
            options={
                'verbose_name': 'received mail',
                'verbose_name_plural': 'received mails',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='UnmatchedDocument',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=reports.states.DocumentStatus.offered, default='reading', max_length=100)),
                ('reason', models.CharField(blank=True, choices=reports.states.DocumentReason.offered, max_length=100)),
                ('stored_as', models.CharField(blank=True, max_length=100)),
                ('content_type', models.CharField(max_length=100)),
                ('size', models.PositiveIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('pages', models.PositiveIntegerField(null=True)),
                ('metadata', models.JSONField(null=True)),
                ('rows', models.JSONField(null=True)),
                ('source_key', models.CharField(blank=True, max_length=100)),
                ('source_label', models.CharField(blank=True, max_length=254)),
                ('received_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('resolved_at', models.DateTimeField(null=True)),
                ('resolved_by', models.CharField(blank=True, max_length=254)),
                ('why', models.CharField(blank=True, max_length=1000)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='reports.parsingjob')),
                ('mail', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='reports.receivedmail')),
                ('order', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.order')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'unmatched document',
                'verbose_name_plural': 'unmatched documents',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddConstraint(
            model_name='reportmailbox',
            constraint=models.UniqueConstraint(fields=('tenant',), name='report_mailbox_of_tenant'),
        ),
        migrations.AddIndex(
            model_name='receivedmail',
            index=models.Index(fields=['mailbox', '-received_at'], name='received_mail_by_time'),
        ),
        migrations.AddIndex(
            model_name='receivedmail',
            index=models.Index(condition=models.Q(('filed_at', None)), fields=['mailbox'], name='received_mail_not_filed'),
        ),
        migrations.AddIndex(
            model_name='receivedmail',
            index=models.Index(fields=['received_at'], name='received_mail_by_age'),
        ),
        migrations.AddConstraint(
            model_name='receivedmail',
            constraint=models.UniqueConstraint(fields=('mailbox', 'digest'), name='received_mail_once'),
        ),
        migrations.AddIndex(
            model_name='unmatcheddocument',
            index=models.Index(fields=['tenant', 'status', '-received_at'], name='unmatched_document_by_status'),
        ),
        migrations.AddConstraint(
            model_name='unmatcheddocument',
            constraint=models.UniqueConstraint(fields=('tenant', 'sha256'), name='unmatched_document_once'),
        ),
        *enable_tenant_row_security(
            "reports_reportmailbox",
            "reports_receivedmail",
            "reports_unmatcheddocument",
        ),
    ]
