import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type ComponentProps, type FormEvent, useState } from "react";
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
import type { JoinRequest, OrganizationDomain } from "@/api/types";
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
      <Section title={t`Requests to join`}>
        <JoinRequests />
      </Section>
      <Section title={t`Domains`}>
        <p className="max-w-2xl text-muted-foreground text-sm">
          <Trans>
            People whose verified address is in a domain of yours can join by themselves. A TXT
            record shows that a domain is yours.
          </Trans>
        </p>
        <form onSubmit={submit} className="flex max-w-md flex-wrap items-end gap-3">
          <div className="min-w-0 flex-1">
            <Field
              label={t`Domain`}
              placeholder={t`example.org`}
              required
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button type="submit" variant="outline" className="h-11" busy={add.isPending}>
            <Trans>Add</Trans>
          </Button>
        </form>
        <PagedList
          label={t`Domains`}
          queryKey={[...key, "domains"]}
          load={listDomains}
          empty={t`There is none yet.`}
        >
          {(domain) => <DomainRow key={domain.id} domain={domain} />}
        </PagedList>
      </Section>
    </>
  );
}

function DomainRow({ domain }: { domain: OrganizationDomain }) {
  const verify = useChange(key, verifyDomain, t`The domain is verified.`);
  const remove = useChange(key, deleteDomain);
  const join = useChange(key, (value: OrganizationDomain["join"]) =>
    setDomainJoin(domain.id, value),
  );
  const { domain: name, record_name: record, record_value: value } = domain;
  const note = domain.verified_at
    ? t({ message: "Verified", context: "domain" })
    : t`Publish a TXT record ${record} with the value ${value}`;
  return (
    <ListRow title={name} note={note}>
      <Select
        quiet
        label={t`How people of ${name} join`}
        value={domain.join}
        onChange={(next) => join.mutate(next)}
        options={[
          { value: "request", label: t({ message: "By request", context: "how people join" }) },
          { value: "automatic", label: t({ message: "At once", context: "how people join" }) },
        ]}
      />
      {!domain.verified_at && (
        <Button
          variant="outline"
          size="sm"
          aria-label={t`Verify ${name}`}
          busy={verify.isPending}
          onClick={() => verify.mutate(domain.id)}
        >
          <Trans>Verify</Trans>
        </Button>
      )}
      <Button
        variant="outline"
        size="sm"
        aria-label={t`Remove ${name}`}
        busy={remove.isPending}
        onClick={() => remove.mutate(domain.id)}
      >
        <Trans>Remove</Trans>
      </Button>
    </ListRow>
  );
}

function JoinRequests() {
  const accept = useChange(key, acceptJoinRequest, t`They are a member now.`);
  const decline = useChange(key, declineJoinRequest);
  return (
    <PagedList
      label={t`Requests to join`}
      queryKey={[...key, "join-requests"]}
      load={listJoinRequests}
      empty={t`Nobody asks to join.`}
    >
      {(asked) => (
        <JoinRequestRow
          key={asked.id}
          asked={asked}
          accept={{ busy: accept.isPending, onClick: () => accept.mutate(asked.id) }}
          decline={{ busy: decline.isPending, onClick: () => decline.mutate(asked.id) }}
        />
      )}
    </PagedList>
  );
}

interface JoinRequestRowProps {
  asked: JoinRequest;
  accept: Pick<ComponentProps<typeof Button>, "busy" | "onClick">;
  decline: Pick<ComponentProps<typeof Button>, "busy" | "onClick">;
}

function JoinRequestRow({ asked, accept, decline }: JoinRequestRowProps) {
  const { email } = asked;
  return (
    <ListRow title={asked.name || email} note={email}>
      <Button size="sm" aria-label={t`Accept ${email}`} {...accept}>
        <Trans>Accept</Trans>
      </Button>
      <Button variant="outline" size="sm" aria-label={t`Decline ${email}`} {...decline}>
        <Trans>Decline</Trans>
      </Button>
    </ListRow>
  );
}
