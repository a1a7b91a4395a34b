"""Let teams take turns at the job queue, whoever put most into it."""

from django.db import migrations

INDEXES = """
CREATE INDEX assay_jobs_by_team ON procrastinate_jobs
    (coalesce(args ->> 'tenant_pk', ''), priority DESC, id) WHERE status = 'todo';
CREATE INDEX assay_jobs_by_lock ON procrastinate_jobs (lock, priority DESC, id)
    WHERE status = 'todo' AND lock IS NOT NULL;
"""
# As the library's own (procrastinate_fetch_job_v2), but that the teams with due jobs are
# asked one after the other: first who has fewest at work anywhere, then who was served
# longest ago. Each is one step in an index, however many jobs it has. Jobs of no team
# ('') run by the clock, take their turn and have no share to keep to.
FETCH = """
CREATE FUNCTION assay_fetch_job(
    queues varchar[], worker bigint, served text[], share int, shares jsonb
) RETURNS procrastinate_jobs LANGUAGE plpgsql AS $$
DECLARE
    next_team text;
    full_queues varchar[];
    fetched procrastinate_jobs;
BEGIN
    FOR next_team, full_queues IN
        WITH RECURSIVE waiting AS (
            (
                SELECT coalesce(args ->> 'tenant_pk', '') AS team
                FROM procrastinate_jobs WHERE status = 'todo' ORDER BY 1 LIMIT 1
            )
            UNION ALL
            SELECT (
                SELECT coalesce(args ->> 'tenant_pk', '') FROM procrastinate_jobs
                WHERE status = 'todo'
                    AND coalesce(args ->> 'tenant_pk', '') > waiting.team
                ORDER BY 1 LIMIT 1
            ) FROM waiting WHERE waiting.team IS NOT NULL
        ), running AS (
            SELECT coalesce(args ->> 'tenant_pk', '') AS team, queue_name AS queue,
                count(*) AS anywhere, count(*) FILTER (WHERE worker_id = worker) AS here
            FROM procrastinate_jobs WHERE status = 'doing' GROUP BY 1, 2
        )
        SELECT waiting.team, array_agg(running.queue) FILTER (
            WHERE running.here >= (shares ->> running.queue)::int AND waiting.team <> ''
        )
        FROM waiting LEFT JOIN running USING (team)
        WHERE waiting.team IS NOT NULL
        GROUP BY waiting.team
        HAVING waiting.team = '' OR coalesce(sum(running.here), 0) < share
        ORDER BY coalesce(sum(running.anywhere), 0),
            array_position(served, waiting.team) NULLS FIRST, waiting.team
    LOOP
        WITH candidate AS (
            SELECT job.id FROM procrastinate_jobs AS job
            WHERE job.status = 'todo'
                AND coalesce(job.args ->> 'tenant_pk', '') = next_team
                AND (queues IS NULL OR job.queue_name = ANY (queues))
                AND (full_queues IS NULL OR job.queue_name <> ALL (full_queues))
                AND (job.scheduled_at IS NULL OR job.scheduled_at <= now())
                AND (job.lock IS NULL OR NOT EXISTS (
                    SELECT FROM procrastinate_jobs AS other
                    WHERE other.lock = job.lock AND other.status = 'doing'
                ) AND NOT EXISTS (
                    SELECT FROM procrastinate_jobs AS other
                    WHERE other.lock = job.lock AND other.status = 'todo'
                        AND (other.priority > job.priority
                            OR other.priority = job.priority AND other.id < job.id)
                ))
            ORDER BY job.priority DESC, job.id
            LIMIT 1 FOR UPDATE OF job SKIP LOCKED
        )
        UPDATE procrastinate_jobs AS job SET status = 'doing', worker_id = worker
        FROM candidate WHERE job.id = candidate.id
        RETURNING job.* INTO fetched;
        EXIT WHEN fetched.id IS NOT NULL;
    END LOOP;
    RETURN fetched;
END $$;
"""
REVERSE = """
DROP FUNCTION assay_fetch_job(varchar[], bigint, text[], int, jsonb);
DROP INDEX assay_jobs_by_team;
DROP INDEX assay_jobs_by_lock;
"""


class Migration(migrations.Migration):
    locks_because = "the table of jobs is short: ended ones go after 7 days"
    dependencies = [
        ("portal", "0002_signed_tenant"),
        ("procrastinate", "0041_post_retry_failed_job"),
    ]

    operations = [migrations.RunSQL([INDEXES, FETCH], REVERSE)]
