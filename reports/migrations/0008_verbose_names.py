from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0001_squashed_0007_fill_how_sure_reviews_were'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='loincalias',
            options={'base_manager_name': 'unscoped', 'default_manager_name': 'unscoped', 'verbose_name': 'LOINC mapping', 'verbose_name_plural': 'LOINC mappings'},
        ),
        migrations.AlterModelOptions(
            name='parsingjob',
            options={'base_manager_name': 'unscoped', 'default_manager_name': 'unscoped', 'verbose_name': 'parsing job', 'verbose_name_plural': 'parsing jobs'},
        ),
    ]
