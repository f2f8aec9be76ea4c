import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { getDataPolicy, policyKey } from "@/api/privacy";
import { deleteRequestLogs, type LogFilters, listRequestLogs } from "@/api/request-logs";
import type { RequestLog } from "@/api/types";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { RequestDialog } from "./request-dialog";
import { formatTokens } from "./usage-format";

const OUTCOMES: { value: LogFilters["outcome"]; label: string }[] = [
  { value: "", label: "All" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
];

/** The requests of a key, where the organization logs them: searched, looked at, asked again. */
export function KeyRequests({ id }: { id: string }) {
  const policy = useQuery({ queryKey: policyKey, queryFn: getDataPolicy }).data;
  const [filters, setFilters] = useState<LogFilters>({ outcome: "", text: "" });
  const [shown, setShown] = useState<string | null>(null);
  return (
    <Section title="Requests">
      {policy && <Kept logs={policy.logs_requests} days={policy.request_log_days} />}
      <Search filters={filters} onSearch={setFilters} />
      <PagedList
        label="Requests"
        queryKey={["keys", id, "requests", filters]}
        load={(cursor) => listRequestLogs(id, filters, cursor)}
        empty={filters.text || filters.outcome ? "Nothing was found." : "Nothing is logged."}
      >
        {(row) => (
          <ListRow key={row.id} title={titleOf(row)} note={noteOf(row)}>
            <Button
              variant="outline"
              size="sm"
              aria-label={`Show ${titleOf(row)} of ${timeOf(row)}`}
              onClick={() => setShown(row.id)}
            >
              Show
            </Button>
          </ListRow>
        )}
      </PagedList>
      <Deletion id={id} />
      <RequestDialog id={shown} onClose={() => setShown(null)} />
    </Section>
  );
}

function Kept({ logs, days }: { logs: boolean; days: number }) {
  return (
    <p className="text-muted-foreground text-sm">
      {logs
        ? `Logged, encrypted, and kept for ${days} days.`
        : "Your organization logs no requests."}{" "}
      Owners and admins decide that in{" "}
      <Link className="underline underline-offset-4" to="/settings/privacy">
        the settings
      </Link>
      .
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
        label="Search requests and answers"
        type="search"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Select
        label="Outcome"
        value={filters.outcome}
        onChange={(outcome) => onSearch({ ...filters, outcome })}
        options={OUTCOMES}
      />
      <Button type="submit" variant="outline">
        Search
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
    toast("The logged requests are deleted.");
    await client.invalidateQueries({ queryKey: ["keys", id, "requests"] });
  };
  return (
    <>
      <Button variant="outline" size="sm" className="self-start" onClick={() => setOpen(true)}>
        Delete logged requests
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Delete the logged requests of this key?"
        description="What was asked and answered is gone for good. Usage and invoices stay."
      >
        <DialogActions>
          <Button variant="outline" onClick={() => setOpen(false)}>
            Keep them
          </Button>
          <Button variant="danger" onClick={() => void remove()}>
            Delete
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}

const titleOf = (row: RequestLog) => `${row.path} ${row.status}${row.code ? ` ${row.code}` : ""}`;

const timeOf = (row: RequestLog) => new Date(row.created_at).toLocaleString();

const noteOf = (row: RequestLog) =>
  [
    timeOf(row),
    row.model,
    `${formatTokens(row.input_tokens)} + ${formatTokens(row.output_tokens)} tokens`,
    `${row.duration_ms} ms`,
    row.request_id,
  ]
    .filter(Boolean)
    .join(" · ");
