import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { auditExportPath, listAuditActions, listAuditEvents } from "@/api/organization-security";
import type { AuditEvent } from "@/api/types";
import { locale } from "@/lib/locale";
import { formatList } from "@/lib/numbers";
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
    <Section title={t`Audit log`}>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Select
          label={t({ message: "What", context: "actions of the audit log" })}
          value={chosen}
          onChange={setChosen}
          options={[
            {
              value: everything,
              label: t({ message: "Everything", context: "actions of the audit log" }),
            },
            ...(actions.data ?? []).map((name) => ({ value: name, label: name })),
          ]}
        />
        <a href={auditExportPath(action)} download className={buttonClass("outline")}>
          <Trans>Download as JSON lines</Trans>
        </a>
      </div>
      <PagedList
        label={t`Audit log`}
        queryKey={[...key, action]}
        load={(after) => listAuditEvents(action, after)}
        empty={t`Nothing of this kind has happened.`}
      >
        {(event) => <EventRow key={event.id} event={event} />}
      </PagedList>
    </Section>
  );
}

/** Who did it, where no address says so. */
const ACTORS: Record<AuditEvent["actor"]["kind"], MessageDescriptor> = {
  user: msg({ message: "a deleted account", context: "who did it" }),
  api_key: msg({ message: "an API key", context: "who did it" }),
  staff: msg({ message: "the operator's staff", context: "who did it" }),
  scim: msg({ message: "the directory", context: "who did it" }),
  system: msg({ message: "the system", context: "who did it" }),
};

function EventRow({ event }: { event: AuditEvent }) {
  const who = event.actor.email ?? t(ACTORS[event.actor.kind]);
  const details = formatList(
    Object.entries(event.details).map(([name, value]) => `${name}: ${String(value)}`),
  );
  const parts = [new Date(event.created_at).toLocaleString(locale()), who, event.address, details];
  return (
    <ListRow
      title={<span dir="ltr">{event.action}</span>}
      note={parts.filter(Boolean).join(" · ")}
    />
  );
}
