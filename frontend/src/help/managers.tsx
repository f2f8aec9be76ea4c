import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { managesMoney } from "@/api/billing";
import type { Role } from "@/api/types";
import { Section } from "@/pages/page-layout";

const LINK = "font-medium underline underline-offset-4";

interface Place {
  to: string;
  name: string;
  holds: string;
}

function placesOf(role: Role): Place[] {
  const manages = role === "owner" || role === "admin";
  const all = { to: "/usage", name: t`Usage`, holds: t`Tokens and costs, and budgets` };
  const money = {
    to: "/billing",
    name: t`Billing`,
    holds: t`Plan, credit and invoices`,
  };
  const managed = [
    { to: "/organization", name: t`Organization`, holds: t`Members, roles and invitations` },
    {
      to: "/organization/security",
      name: t`Security & SSO`,
      holds: t`Sign-in, networks, and the audit log`,
    },
    {
      to: "/organization/tools",
      name: t`Tools`,
      holds: t`Why a tool server or the web search fails`,
    },
    { to: "/projects", name: t`Projects`, holds: t`Allowed models, limits and budgets of each` },
    { to: "/keys", name: t`API keys`, holds: t`Limits, and each request with its error` },
  ];
  return [all, ...(managesMoney(role) ? [money] : []), ...(manages ? managed : [])];
}

/** The pages that say why, as far as somebody of this role may see them. */
export function ForManagers({ role }: { role: Role }) {
  return (
    <Section title={t`Pages that say more`}>
      <ul className="flex flex-col gap-1.5 text-sm">
        {placesOf(role).map(({ to, name, holds }) => (
          <li key={to}>
            <Link to={to} className={LINK}>
              {name}
            </Link>
            <span className="text-muted-foreground"> · {holds}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What only who runs the installation can open. */
export function ForOperators() {
  return (
    <Section title={t`For whoever runs this installation`}>
      <ul className="flex max-w-2xl flex-col gap-1.5 text-muted-foreground text-sm">
        <li>
          <Trans>
            <Outside href="/admin/">Administration</Outside>: models, replicas, safety decisions and
            appeals. It asks its staff to sign in.
          </Trans>
        </li>
        <li>
          <Trans>
            <Mono>/readyz</Mono> says which part is down and <Mono>/metrics</Mono> how it goes, on
            the server itself or with its token.
          </Trans>
        </li>
        <li>
          <Trans>
            The log has each request's id. <Mono>docs/operations.md</Mono> in Parley's source says
            what to do when an alert rings.
          </Trans>
        </li>
      </ul>
    </Section>
  );
}

const Outside = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} className="font-medium text-foreground underline underline-offset-4">
    {children}
  </a>
);

const Mono = ({ children }: { children: ReactNode }) => (
  <code dir="ltr" className="text-foreground text-xs">
    {children}
  </code>
);
