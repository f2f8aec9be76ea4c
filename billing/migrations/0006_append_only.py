"""Issued documents, their lines and the credit ledger are append-only; a ledger record may be
put on an invoice once."""

from django.db import migrations

CREATE = """
CREATE OR REPLACE FUNCTION billing_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION billing_invoice_once() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_usagerecord%ROWTYPE;
BEGIN
    expected := OLD;
    expected.invoice_id := NEW.invoice_id;
    IF OLD.invoice_id IS NOT NULL OR NEW IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'billing_usagerecord is append-only: UPDATE refused'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER append_only ON billing_usagerecord;
CREATE TRIGGER append_only BEFORE DELETE ON billing_usagerecord
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER invoice_once BEFORE UPDATE ON billing_usagerecord
    FOR EACH ROW EXECUTE FUNCTION billing_invoice_once();

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_invoiceline
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_creditentry
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
"""
DROP = """
DROP TRIGGER append_only ON billing_creditentry;
DROP TRIGGER append_only ON billing_invoiceline;
DROP TRIGGER issued_is_final ON billing_invoice;
DROP FUNCTION billing_issued_is_final();
DROP TRIGGER invoice_once ON billing_usagerecord;
DROP FUNCTION billing_invoice_once();
DROP TRIGGER append_only ON billing_usagerecord;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_usagerecord
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0005_credit_and_invoices")]
    operations = [migrations.RunSQL(CREATE, DROP)]
