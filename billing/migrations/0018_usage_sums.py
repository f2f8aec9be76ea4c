"""Coarser sums of usage, which a trigger on the hourly rollups keeps equal to them at every commit.

As the sums by day (0017): a trigger, because processes of the version before write rollups too while
they are replaced, with the columns from the catalogue. Of rollups that are deleted, which only a
repair does while it holds the aggregators off, the sums are taken back.
"""

from django.db import migrations, models

CREATE = r"""
CREATE FUNCTION billing_sum_groups() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    source text := 'SELECT 1 AS sign, * FROM added';
    names text;
    sums text;
    additions text;
    subtractions text;
BEGIN
    SELECT string_agg(format('%I', attname), ', '),
        string_agg(format('sum(sign * %1$I) AS %1$I', attname), ', '),
        string_agg(format('%1$I = total.%1$I + excluded.%1$I', attname), ', '),
        string_agg(format('%1$I = total.%1$I - gone.%1$I', attname), ', ')
    INTO names, sums, additions, subtractions
    FROM pg_attribute
    WHERE attrelid = 'billing_usagesum'::regclass AND NOT attisdropped
        AND (attname = 'requests' OR attname LIKE '%\_tokens');
    IF TG_OP = 'UPDATE' THEN
        source := source || ' UNION ALL SELECT -1, * FROM removed';
    ELSIF TG_OP = 'DELETE' THEN
        source := 'SELECT 1 AS sign, * FROM removed';
    END IF;
    source := format(
        $source$
            SELECT CASE WHEN grouping(hour) = 0 THEN 'hour' WHEN grouping(day) = 0 THEN 'day'
                    ELSE 'month' END AS unit,
                CASE WHEN grouping(user_id) = 0 THEN 'all'
                    WHEN grouping(project_id) = 0 THEN 'project'
                    WHEN grouping(key_id) = 0 THEN 'key' ELSE 'model' END AS detail,
                coalesce(hour, day, month) AS start, organization_id,
                coalesce(project_id, '00000000-0000-0000-0000-000000000000') AS project_id,
                coalesce(user_id, '00000000-0000-0000-0000-000000000000') AS user_id,
                key_id, model, %1$s
            FROM (
                SELECT *, date_trunc('day', hour, 'UTC') AS day,
                    date_trunc('month', hour, 'UTC') AS month FROM (%2$s) AS changes
            ) AS changes
            GROUP BY organization_id, model, GROUPING SETS (
                (hour), (day), (day, project_id), (day, key_id),
                (month, project_id, user_id, key_id)
            )
        $source$,
        sums, source
    );
    IF TG_OP = 'DELETE' THEN
        EXECUTE format(
            $update$
                UPDATE billing_usagesum AS total SET %1$s FROM (%2$s) AS gone
                WHERE total.organization_id = gone.organization_id AND total.unit = gone.unit
                    AND total.detail = gone.detail AND total.start = gone.start
                    AND total.project_id = gone.project_id AND total.user_id = gone.user_id
                    AND total.key_id IS NOT DISTINCT FROM gone.key_id AND total.model = gone.model
            $update$,
            subtractions, source
        );
        DELETE FROM billing_usagesum WHERE requests = 0
            AND organization_id IN (SELECT DISTINCT organization_id FROM removed);
        RETURN NULL;
    END IF;
    -- ORDER BY makes concurrent aggregators take row locks in one order.
    EXECUTE format(
        $insert$
            INSERT INTO billing_usagesum AS total (
                unit, detail, start, organization_id, project_id, user_id, key_id, model, %1$s
            )
            SELECT unit, detail, start, organization_id, project_id, user_id, key_id, model, %1$s
            FROM (%2$s) AS sums ORDER BY organization_id, unit, detail, start, project_id, user_id,
                key_id, model
            ON CONFLICT (
                organization_id, unit, detail, start, project_id, user_id, key_id, model
            ) DO UPDATE SET %3$s
        $insert$,
        names, source, additions
    );
    RETURN NULL;
END $$;
CREATE TRIGGER sum_groups_added AFTER INSERT ON billing_usagerollup
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION billing_sum_groups();
CREATE TRIGGER sum_groups_changed AFTER UPDATE ON billing_usagerollup
    REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION billing_sum_groups();
CREATE TRIGGER sum_groups_removed AFTER DELETE ON billing_usagerollup
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION billing_sum_groups();
INSERT INTO billing_usagesum (
    unit, detail, start, organization_id, project_id, user_id, key_id, model, requests,
    input_tokens, cached_input_tokens, output_tokens
)
SELECT CASE WHEN grouping(hour) = 0 THEN 'hour' WHEN grouping(day) = 0 THEN 'day'
        ELSE 'month' END,
    CASE WHEN grouping(user_id) = 0 THEN 'all' WHEN grouping(project_id) = 0 THEN 'project'
        WHEN grouping(key_id) = 0 THEN 'key' ELSE 'model' END,
    coalesce(hour, day, month), organization_id,
    coalesce(project_id, '00000000-0000-0000-0000-000000000000'),
    coalesce(user_id, '00000000-0000-0000-0000-000000000000'), key_id, model,
    sum(requests), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)
FROM (
    SELECT *, date_trunc('day', hour, 'UTC') AS day, date_trunc('month', hour, 'UTC') AS month
    FROM billing_usagerollup
) AS rollups
GROUP BY organization_id, model, GROUPING SETS (
    (hour), (day), (day, project_id), (day, key_id), (month, project_id, user_id, key_id)
);
"""
DROP = """
DROP TRIGGER sum_groups_removed ON billing_usagerollup;
DROP TRIGGER sum_groups_changed ON billing_usagerollup;
DROP TRIGGER sum_groups_added ON billing_usagerollup;
DROP FUNCTION billing_sum_groups();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0017_usage_days"),
    ]

    operations = [
        migrations.CreateModel(
            name="UsageSum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("cached_input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("organization_id", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                ("key_id", models.UUIDField(blank=True, null=True)),
                ("model", models.CharField(max_length=200)),
                ("requests", models.PositiveBigIntegerField()),
                ("unit", models.CharField(help_text="hour, day or month (UTC).", max_length=5)),
                (
                    "detail",
                    models.CharField(
                        help_text="model, project, key or all: what is kept.", max_length=7
                    ),
                ),
                ("start", models.DateTimeField(help_text="When it begins.")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "organization_id",
                            "unit",
                            "detail",
                            "start",
                            "project_id",
                            "user_id",
                            "key_id",
                            "model",
                        ),
                        name="sum_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
