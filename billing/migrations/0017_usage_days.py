"""Sums of usage by day, which a trigger on the hourly rollups keeps equal to them at every commit.

A trigger, because processes of the version before write rollups too while they are replaced. It
takes the columns from the catalogue: a new kind of tokens is a column of both tables and nothing
here. The lock that making it needs holds aggregators off until the days of before are summed;
readers and the ledger wait for nothing.
"""

from django.db import migrations, models

CREATE = r"""
CREATE FUNCTION billing_sum_days() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    dimensions CONSTANT text := 'organization_id, project_id, user_id, key_id, model';
    source text := 'SELECT 1 AS sign, * FROM added';
    names text;
    sums text;
    additions text;
BEGIN
    SELECT string_agg(format('%I', attname), ', '),
        string_agg(format('sum(sign * %I)', attname), ', '),
        string_agg(format('%1$I = total.%1$I + excluded.%1$I', attname), ', ')
    INTO names, sums, additions
    FROM pg_attribute
    WHERE attrelid = 'billing_usageday'::regclass AND NOT attisdropped
        AND (attname = 'requests' OR attname LIKE '%\_tokens');
    IF TG_OP = 'DELETE' THEN
        -- Only a repair deletes, and it holds the aggregators off: the days are summed anew.
        DELETE FROM billing_usageday AS total USING removed
        WHERE total.organization_id = removed.organization_id
            AND total.day = date_trunc('day', removed.hour, 'UTC');
        source := $source$
            SELECT 1 AS sign, rollup.* FROM billing_usagerollup AS rollup JOIN (
                SELECT DISTINCT organization_id, date_trunc('day', hour, 'UTC') AS day FROM removed
            ) AS touched ON rollup.organization_id = touched.organization_id
                AND rollup.hour >= touched.day AND rollup.hour < touched.day + interval '24 hours'
        $source$;
    ELSIF TG_OP = 'UPDATE' THEN
        source := source || ' UNION ALL SELECT -1, * FROM removed';
    END IF;
    -- ORDER BY makes concurrent aggregators take row locks in one order.
    EXECUTE format(
        $insert$
            INSERT INTO billing_usageday AS total (day, %1$s, %2$s)
            SELECT date_trunc('day', hour, 'UTC'), %1$s, %3$s FROM (%4$s) AS changes
            GROUP BY 1, %1$s ORDER BY %1$s, 1
            ON CONFLICT (organization_id, day, project_id, user_id, key_id, model)
            DO UPDATE SET %5$s
        $insert$,
        dimensions, names, sums, source, additions
    );
    RETURN NULL;
END $$;
CREATE TRIGGER sum_added AFTER INSERT ON billing_usagerollup
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION billing_sum_days();
CREATE TRIGGER sum_changed AFTER UPDATE ON billing_usagerollup
    REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION billing_sum_days();
CREATE TRIGGER sum_removed AFTER DELETE ON billing_usagerollup
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION billing_sum_days();
INSERT INTO billing_usageday (
    day, organization_id, project_id, user_id, key_id, model, requests, input_tokens,
    cached_input_tokens, output_tokens
)
SELECT date_trunc('day', hour, 'UTC'), organization_id, project_id, user_id, key_id, model,
    sum(requests), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)
FROM billing_usagerollup GROUP BY 1, 2, 3, 4, 5, 6;
"""
DROP = """
DROP TRIGGER sum_removed ON billing_usagerollup;
DROP TRIGGER sum_changed ON billing_usagerollup;
DROP TRIGGER sum_added ON billing_usagerollup;
DROP FUNCTION billing_sum_days();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0016_token_columns")]
    operations = [
        migrations.CreateModel(
            name="UsageDay",
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
                ("day", models.DateTimeField(help_text="When it begins.")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "organization_id",
                            "day",
                            "project_id",
                            "user_id",
                            "key_id",
                            "model",
                        ),
                        name="day_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
