"""What the database itself holds of billing's rules, for 0001_squashed_0028: the last word of
0002, 0006, 0009, 0010, 0014, 0017 to 0020 and 0025, which say why."""

# The ledger, prices, costs, lines and credit are append-only; who wrote a row may be forgotten.
APPEND_ONLY = """
CREATE FUNCTION billing_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER append_only
    BEFORE DELETE OR UPDATE OF model, currency, input_per_1k, output_per_1k, effective_from
    ON billing_modelcost FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only
    BEFORE DELETE OR UPDATE OF currency, organization_id, model, kind, tiers, effective_from, note
    ON billing_price FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only BEFORE DELETE ON billing_usagerecord
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_invoiceline
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_creditentry
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_pricefactor
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
"""

# A record is on one invoice at a time, and leaves it only when that is void.
INVOICE_ONCE = """
CREATE FUNCTION billing_invoice_once() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_usagerecord%ROWTYPE;
BEGIN
    expected := OLD;
    expected.invoice_id := NEW.invoice_id;
    IF NEW IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'billing_usagerecord is append-only: UPDATE refused'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.invoice_id IS NOT NULL AND (NEW.invoice_id IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM billing_invoice WHERE id = OLD.invoice_id AND status = 'void'
    )) THEN
        RAISE EXCEPTION 'billing_usagerecord: a record leaves an invoice only when that is void'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER invoice_once BEFORE UPDATE ON billing_usagerecord
    FOR EACH ROW EXECUTE FUNCTION billing_invoice_once();
"""

# An invoice that is issued is never changed: it is paid, or void.
ISSUED_IS_FINAL = """
CREATE FUNCTION billing_issued_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_invoice%ROWTYPE;
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'an invoice is never deleted: void it'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    expected := OLD;
    expected.status := NEW.status;
    IF OLD.status = 'draft' THEN
        expected.series := NEW.series;
        expected.number := NEW.number;
        expected.issued_at := NEW.issued_at;
        expected.due_at := NEW.due_at;
    ELSE
        expected.paid_at := NEW.paid_at;
        expected.voided_at := NEW.voided_at;
    END IF;
    IF NEW IS DISTINCT FROM expected OR (OLD.status <> 'draft' AND NEW.status = 'draft') THEN
        RAISE EXCEPTION 'an invoice is immutable: correct it by a credit note'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER issued_is_final BEFORE UPDATE OR DELETE ON billing_invoice
    FOR EACH ROW EXECUTE FUNCTION billing_issued_is_final();
"""

# Records whose event may be missing.
LIST_UNAGGREGATED = """
CREATE FUNCTION billing_list_unaggregated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO billing_unaggregatedusage (generation_id, organization_id)
    SELECT generation_id, organization_id FROM recorded;
    RETURN NULL;
END $$;
CREATE TRIGGER list_unaggregated AFTER INSERT ON billing_usagerecord
    REFERENCING NEW TABLE AS recorded
    FOR EACH STATEMENT EXECUTE FUNCTION billing_list_unaggregated();
"""

# Sums by day, equal to the hourly rollups at every commit.
SUM_DAYS = r"""
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
        AND (attname = 'requests' OR attname LIKE '%\_tokens'
            OR attname IN ('audio_seconds', 'spoken_characters'));
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
"""

# Coarser sums, likewise.
SUM_GROUPS = r"""
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
        AND (attname = 'requests' OR attname LIKE '%\_tokens'
            OR attname IN ('audio_seconds', 'spoken_characters'));
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
"""

CREATE = APPEND_ONLY + INVOICE_ONCE + ISSUED_IS_FINAL + LIST_UNAGGREGATED + SUM_DAYS + SUM_GROUPS
# A trigger goes with its table; the functions stay behind.
DROP = "".join(
    f"DROP FUNCTION {name}() CASCADE;"
    for name in (
        "billing_sum_groups",
        "billing_sum_days",
        "billing_list_unaggregated",
        "billing_issued_is_final",
        "billing_invoice_once",
        "billing_append_only",
    )
)
