import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { patchMe } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { meKey, useMe, useSetMe } from "@/app/session";
import { ShortcutList } from "@/app/shortcuts";
import { useTheme } from "@/lib/theme";
import { Button, buttonClass } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { toast } from "@/ui/toast";
import { InstructionsSection } from "./instructions";
import { JoinOffer } from "./join-offer";
import { LanguageSection } from "./language";
import { MyToolsSection } from "./my-tools";
import { NotificationsSection } from "./notifications";
import { PageLayout, Section } from "./page-layout";
import { roleName } from "./role-names";
import { SharedLinksSection } from "./shared-links";

export function SettingsPage() {
  return (
    <PageLayout title={t`Settings`}>
      <ThemeSection />
      <LanguageSection />
      <NotificationsSection />
      <ProfileSection />
      <InstructionsSection />
      <MyToolsSection />
      <MemorySection />
      <SecuritySection />
      <PrivacySection />
      <OrganizationSection />
      <SharedLinksSection />
      <ShortcutsSection />
    </PageLayout>
  );
}

function ThemeSection() {
  const { theme, setTheme } = useTheme();
  return (
    <Section title={t`Appearance`}>
      <Segmented
        label={t`Theme`}
        value={theme}
        onChange={setTheme}
        options={[
          {
            value: "system",
            label: t({ message: "System", context: "theme" }),
            icon: <Monitor aria-hidden />,
          },
          {
            value: "light",
            label: t({ message: "Light", context: "theme" }),
            icon: <Sun aria-hidden />,
          },
          {
            value: "dark",
            label: t({ message: "Dark", context: "theme" }),
            icon: <Moon aria-hidden />,
          },
        ]}
      />
    </Section>
  );
}

function ProfileSection() {
  const me = useMe();
  const client = useQueryClient();
  const [name, setName] = useState(me.user.name);
  const save = useMutation({
    mutationFn: () => patchMe({ name: name.trim() }),
    onSuccess: (next) => {
      client.setQueryData(meKey, next);
      toast(t`Your name is saved.`);
    },
  });
  return (
    <Section title={t`Profile`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
        <Field
          label={t`Name`}
          autoComplete="name"
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field label={t`E-mail`} type="email" value={me.user.email} readOnly />
        <Button
          type="submit"
          className="self-start"
          busy={save.isPending}
          disabled={name.trim() === me.user.name}
        >
          <Trans>Save</Trans>
        </Button>
      </form>
    </Section>
  );
}

function MemorySection() {
  return (
    <Section title={t`Memory`}>
      <p className="max-w-md text-muted-foreground text-sm">
        <Trans>What later chats know of you: see it, change it, forget it, or switch it off.</Trans>
      </p>
      <Link to="/settings/memory" className={`${buttonClass("outline")} self-start`}>
        <Trans>Open memory</Trans>
      </Link>
    </Section>
  );
}

function SecuritySection() {
  return (
    <Section title={t`Account and security`}>
      <p className="max-w-md text-muted-foreground text-sm">
        <Trans>
          Your password, address, second factors and passkeys, and where you are signed in.
        </Trans>
      </p>
      <Link to="/settings/security" className={`${buttonClass("outline")} self-start`}>
        <Trans context="action">Open</Trans>
      </Link>
    </Section>
  );
}

function PrivacySection() {
  return (
    <Section title={t`Data and privacy`}>
      <p className="max-w-md text-muted-foreground text-sm">
        <Trans>How long your data is kept, a copy of it, and its erasure.</Trans>
      </p>
      <Link to="/settings/privacy" className={`${buttonClass("outline")} self-start`}>
        <Trans>Open your data</Trans>
      </Link>
    </Section>
  );
}

function OrganizationSection() {
  const me = useMe();
  const setMe = useSetMe();
  const change = useMutation({
    mutationFn: (organizationId: string) => patchMe({ organization_id: organizationId }),
    onSuccess: (next) => {
      setMe(next);
      const { name } = next.organization;
      toast(t`You now work in ${name}.`);
    },
    onError: (error) => toast(errorMessage(error)),
  });
  return (
    <Section title={t`Organization`}>
      <JoinOffer />
      <ul className="flex max-w-md flex-col overflow-hidden rounded-2xl border border-border">
        {me.organizations.map((organization) => {
          const current = organization.id === me.organization.id;
          return (
            <li
              key={organization.id}
              className="flex min-h-14 items-center justify-between gap-3 border-border border-b px-4 py-2 last:border-b-0"
            >
              <span className="flex min-w-0 flex-col">
                <span className="truncate font-medium text-sm">{organization.name}</span>
                <span className="text-muted-foreground text-xs capitalize">
                  {organization.plan}
                  {current && ` · ${roleName(me.role)}`}
                </span>
              </span>
              {current ? (
                <span className="flex items-center gap-1.5 text-muted-foreground text-sm">
                  <Check aria-hidden className="size-4" />{" "}
                  <Trans context="organization">Current</Trans>
                </span>
              ) : (
                <Button
                  variant="outline"
                  size="sm"
                  busy={change.isPending}
                  onClick={() => change.mutate(organization.id)}
                >
                  <Trans context="action">Switch</Trans>
                </Button>
              )}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function ShortcutsSection() {
  return (
    <Section title={t`Keyboard`}>
      <ShortcutList />
    </Section>
  );
}
