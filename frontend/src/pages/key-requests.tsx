import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { getDataPolicy, policyKey } from "@/api/privacy";
import { deleteRequestLogs, type LogFilters, listRequestLogs } from "@/api/request-logs";
import type { RequestLog } from "@/api/types";
import { locale } from "@/lib/locale";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { RequestDialog } from "./request-dialog";
import { formatTokens } from "./usage-format";

const OUTCOMES: { value: LogFilters["outcome"]; label: MessageDescriptor }[] = [
  { value: "", label: msg({ message: "All", context: "requests" }) },
  { value: "succeeded", label: msg({ message: "Succeeded", context: "requests" }) },
  { value: "failed", label: msg({ message: "Failed", context: "requests" }) },
];

/** The requests of a key, where the organization logs them: searched, looked at, asked again. */
export function KeyRequests({ id }: { id: string }) {
  const policy = useQuery({ queryKey: policyKey, queryFn: getDataPolicy }).data;
  const [filters, setFilters] = useState<LogFilters>({ outcome: "", text: "" });
  const [shown, setShown] = useState<string | null>(null);
  return (
    <Section title={t`Requests`}>
      {policy && <Kept logs={policy.logs_requests} days={policy.request_log_days} />}
      <Search filters={filters} onSearch={setFilters} />
      <PagedList
        label={t`Requests`}
        queryKey={["keys", id, "requests", filters]}
        load={(cursor) => listRequestLogs(id, filters, cursor)}
        empty={filters.text || filters.outcome ? t`Nothing was found.` : t`Nothing is logged.`}
      >
        {(row) => <Row key={row.id} row={row} onShow={() => setShown(row.id)} />}
      </PagedList>
      <Deletion id={id} />
      <RequestDialog id={shown} onClose={() => setShown(null)} />
    </Section>
  );
}

function Row({ row, onShow }: { row: RequestLog; onShow: () => void }) {
  const title = `${row.path} ${row.status}${row.code ? ` ${row.code}` : ""}`;
  const time = new Date(row.created_at).toLocaleString(locale());
  return (
    <ListRow title={<span dir="ltr">{title}</span>} note={noteOf(row, time)}>
      <Button variant="outline" size="sm" aria-label={t`Show ${title} of ${time}`} onClick={onShow}>
        <Trans context="verb">Show</Trans>
      </Button>
    </ListRow>
  );
}

function noteOf(row: RequestLog, time: string): string {
  const [input, output] = [formatTokens(row.input_tokens), formatTokens(row.output_tokens)];
  const duration = row.duration_ms.toLocaleString(locale(), { style: "unit", unit: "millisecond" });
  return [time, row.model, t`${input} + ${output} tokens`, duration, row.request_id]
    .filter(Boolean)
    .join(" · ");
}

function Kept({ logs, days }: { logs: boolean; days: number }) {
  return (
    <p className="text-muted-foreground text-sm">
      {logs ? (
        <Trans>
          Logged, encrypted, and kept for <Plural value={days} one="# day" other="# days" />.
        </Trans>
      ) : (
        <Trans>Your organization logs no requests.</Trans>
      )}{" "}
      <Trans>
        Owners and admins decide that in{" "}
        <Link className="underline underline-offset-4" to="/settings/privacy">
          the settings
        </Link>
        .
      </Trans>
    </p>
  );
}

interface SearchProps {
  filters: LogFilters;
  onSearch: (filters: LogFilters) => void;
}

function Search({ filters, onSearch }: SearchProps) {
  const [text, setText] = useState(filters.text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch({ ...filters, text: text.trim() });
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
      <Field
        label={t`Search requests and answers`}
        type="search"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Select
        label={t`Outcome`}
        value={filters.outcome}
        onChange={(outcome) => onSearch({ ...filters, outcome })}
        options={OUTCOMES.map(({ value, label }) => ({ value, label: t(label) }))}
      />
      <Button type="submit" variant="outline">
        <Trans context="verb">Search</Trans>
      </Button>
    </form>
  );
}

function Deletion({ id }: { id: string }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const remove = async () => {
    await deleteRequestLogs(id);
    setOpen(false);
    toast(t`The logged requests are deleted.`);
    await client.invalidateQueries({ queryKey: ["keys", id, "requests"] });
  };
  return (
    <>
      <Button variant="outline" size="sm" className="self-start" onClick={() => setOpen(true)}>
        <Trans>Delete logged requests</Trans>
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={t`Delete the logged requests of this key?`}
        description={t`What was asked and answered is gone for good. Usage and invoices stay.`}
      >
        <DialogActions>
          <Button variant="outline" onClick={() => setOpen(false)}>
            <Trans>Keep them</Trans>
          </Button>
          <Button variant="danger" onClick={() => void remove()}>
            <Trans>Delete</Trans>
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
