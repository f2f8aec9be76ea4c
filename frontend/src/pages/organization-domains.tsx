import { type FormEvent, useState } from "react";
import {
  acceptJoinRequest,
  addDomain,
  declineJoinRequest,
  deleteDomain,
  listDomains,
  listJoinRequests,
  setDomainJoin,
  verifyDomain,
} from "@/api/teams";
import type { OrganizationDomain } from "@/api/types";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { useChange } from "./use-change";

const key = ["organization"] as const;

/** Domains by which people join, and who asks to. */
export function DomainsSection() {
  const [name, setName] = useState("");
  const add = useChange(key, addDomain, () => setName(""));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(name.trim());
  };
  return (
    <>
      <Section title="Requests to join">
        <JoinRequests />
      </Section>
      <Section title="Domains">
        <p className="max-w-2xl text-muted-foreground text-sm">
          People whose verified address is in a domain of yours can join by themselves. A TXT record
          shows that a domain is yours.
        </p>
        <form onSubmit={submit} className="flex max-w-md flex-wrap items-end gap-3">
          <div className="min-w-0 flex-1">
            <Field
              label="Domain"
              placeholder="example.org"
              required
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button type="submit" variant="outline" className="h-11" busy={add.isPending}>
            Add
          </Button>
        </form>
        <PagedList
          label="Domains"
          queryKey={[...key, "domains"]}
          load={listDomains}
          empty="There is none yet."
        >
          {(domain) => <DomainRow key={domain.id} domain={domain} />}
        </PagedList>
      </Section>
    </>
  );
}

function DomainRow({ domain }: { domain: OrganizationDomain }) {
  const verify = useChange(key, verifyDomain, "The domain is verified.");
  const remove = useChange(key, deleteDomain);
  const join = useChange(key, (value: OrganizationDomain["join"]) =>
    setDomainJoin(domain.id, value),
  );
  const note = domain.verified_at
    ? "Verified"
    : `Publish a TXT record ${domain.record_name} with the value ${domain.record_value}`;
  return (
    <ListRow title={domain.domain} note={note}>
      <Select
        quiet
        label={`How people of ${domain.domain} join`}
        value={domain.join}
        onChange={(value) => join.mutate(value)}
        options={[
          { value: "request", label: "By request" },
          { value: "automatic", label: "At once" },
        ]}
      />
      {!domain.verified_at && (
        <Button
          variant="outline"
          size="sm"
          aria-label={`Verify ${domain.domain}`}
          busy={verify.isPending}
          onClick={() => verify.mutate(domain.id)}
        >
          Verify
        </Button>
      )}
      <Button
        variant="outline"
        size="sm"
        aria-label={`Remove ${domain.domain}`}
        busy={remove.isPending}
        onClick={() => remove.mutate(domain.id)}
      >
        Remove
      </Button>
    </ListRow>
  );
}

function JoinRequests() {
  const accept = useChange(key, acceptJoinRequest, "They are a member now.");
  const decline = useChange(key, declineJoinRequest);
  return (
    <PagedList
      label="Requests to join"
      queryKey={[...key, "join-requests"]}
      load={listJoinRequests}
      empty="Nobody asks to join."
    >
      {(asked) => (
        <ListRow key={asked.id} title={asked.name || asked.email} note={asked.email}>
          <Button
            size="sm"
            aria-label={`Accept ${asked.email}`}
            busy={accept.isPending}
            onClick={() => accept.mutate(asked.id)}
          >
            Accept
          </Button>
          <Button
            variant="outline"
            size="sm"
            aria-label={`Decline ${asked.email}`}
            busy={decline.isPending}
            onClick={() => decline.mutate(asked.id)}
          >
            Decline
          </Button>
        </ListRow>
      )}
    </PagedList>
  );
}
