"""How sure the machine was of the least sure row of each review there is."""

from django.db import migrations

FILL = """
UPDATE reports_review AS review SET least_sure = found.least
FROM (
    SELECT review_id, min(("values" -> 'confidence' ->> 'overall')::float) AS least
    FROM reports_reviewrow GROUP BY review_id
) AS found
WHERE found.review_id = review.id AND review.least_sure IS NULL
"""


class Migration(migrations.Migration):
    locks_because = (
        "a review is locked while it is written, one of at most some thousands; no"
        " reader waits"
    )
    dependencies = [("reports", "0006_who_sent_a_report_and_how_sure_it_was")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
