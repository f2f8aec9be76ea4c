import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { auditExportPath, listAuditActions, listAuditEvents } from "@/api/organization-security";
import type { AuditEvent } from "@/api/types";
import { buttonClass } from "@/ui/button";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";

const key = ["organization", "audit-log"] as const;
const everything = "all";

/** Who did what in the organization, newest first. */
export function AuditLogSection() {
  const [chosen, setChosen] = useState(everything);
  const actions = useQuery({ queryKey: [...key, "actions"], queryFn: listAuditActions });
  const action = chosen === everything ? "" : chosen;
  return (
    <Section title="Audit log">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Select
          label="What"
          value={chosen}
          onChange={setChosen}
          options={[
            { value: everything, label: "Everything" },
            ...(actions.data ?? []).map((name) => ({ value: name, label: name })),
          ]}
        />
        <a href={auditExportPath(action)} download className={buttonClass("outline")}>
          Download as JSON lines
        </a>
      </div>
      <PagedList
        label="Audit log"
        queryKey={[...key, action]}
        load={(after) => listAuditEvents(action, after)}
        empty="Nothing of this kind has happened."
      >
        {(event) => <EventRow key={event.id} event={event} />}
      </PagedList>
    </Section>
  );
}

function EventRow({ event }: { event: AuditEvent }) {
  const who = event.actor.email ?? actors[event.actor.kind];
  const details = Object.entries(event.details)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(", ");
  const parts = [new Date(event.created_at).toLocaleString(), who, event.address, details];
  return <ListRow title={event.action} note={parts.filter(Boolean).join(" · ")} />;
}

const actors: Record<AuditEvent["actor"]["kind"], string> = {
  user: "a deleted account",
  api_key: "an API key",
  staff: "the operator's staff",
  scim: "the directory",
  system: "the system",
};
