"""Record the numbers by which people find orders and reports."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import users.states.people

# What people leave out when they copy a number is left out here.
SPELL_NUMBER = """
CREATE FUNCTION users_spell_number(number text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(upper(regexp_replace(number, '[^0-9A-Za-z]', '', 'g')), 200)
$$;
"""
RECORD_NUMBER = """
CREATE FUNCTION users_record_number(
    tenant bigint, owner bigint, kind text, record uuid, number text
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO users_recordnumber (tenant_id, user_id, kind, record, number)
    SELECT tenant, owner, kind, record, users_spell_number(number)
    WHERE users_spell_number(number) <> ''
    ON CONFLICT DO NOTHING
$$;
"""
FORGET_NUMBERS = """
CREATE FUNCTION users_forget_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM users_recordnumber WHERE record = OLD.id;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    locks_because = "the table is made here, and functions"

    dependencies = [
        ('accounts', '0013_hidden_guides'),
        ('users', '0022_user_language'),
    ]

    operations = [
        migrations.CreateModel(
            name='RecordNumber',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=users.states.people.NumberedKind.offered, max_length=20)),
                ('record', models.UUIDField()),
                ('number', models.CharField(max_length=200)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='users.user')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'indexes': [django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass('number', 'gin_trgm_ops'), name='record_number_by_part')],
                'constraints': [models.UniqueConstraint(fields=('record', 'number'), name='record_number_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RunSQL(SPELL_NUMBER, "DROP FUNCTION users_spell_number(text)"),
        migrations.RunSQL(
            RECORD_NUMBER,
            "DROP FUNCTION users_record_number(bigint, bigint, text, uuid, text)",
        ),
        migrations.RunSQL(FORGET_NUMBERS, "DROP FUNCTION users_forget_numbers()"),
    ]
