import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ApiError, errorMessage } from "@/api/errors";
import { getNetworks, type NetworksChange, putNetworks } from "@/api/organization-security";
import type { AllowedNetworks } from "@/api/types";
import { Button } from "@/ui/button";
import { inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";

const key = ["organization", "networks"] as const;

/** From where the organization may be used. */
export function NetworksSection() {
  const networks = useQuery({ queryKey: key, queryFn: getNetworks });
  return (
    <Section title={t`Allowed networks`}>
      {networks.error && <Notice tone="error">{errorMessage(networks.error)}</Notice>}
      {networks.data && (
        <NetworksForm key={JSON.stringify(networks.data.networks)} networks={networks.data} />
      )}
    </Section>
  );
}

function NetworksForm({ networks }: { networks: AllowedNetworks }) {
  const client = useQueryClient();
  const guard = useGuard();
  const id = useId();
  const address = networks.your_address;
  const [text, setText] = useState(written(networks, false));
  const [directory, setDirectory] = useState(written(networks, true));
  const save = useMutation({
    mutationFn: (confirmed: boolean) =>
      guard(() =>
        putNetworks({
          networks: [...parsed(text, false), ...parsed(directory, true)],
          confirm_lockout: confirmed,
        }),
      ),
    onSuccess: (next) => {
      client.setQueryData(key, next);
      const closed = next.networks.some((network) => !network.for_directory);
      toast(closed ? t`Only these networks get in.` : t`Every network gets in.`);
    },
  });
  const locksOut = save.error instanceof ApiError && save.error.code === "lockout";
  return (
    <form
      className="flex max-w-xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(false);
      }}
    >
      {save.error && (
        <Notice
          tone={locksOut ? "warning" : "error"}
          actions={
            locksOut && (
              <Button variant="danger" size="sm" onClick={() => save.mutate(true)}>
                <Trans>Lock me out</Trans>
              </Button>
            )
          }
        >
          {errorMessage(save.error)}
        </Notice>
      )}
      <div className="flex flex-col gap-1.5">
        <label htmlFor={id} className="font-medium text-sm">
          <Trans>Networks, one a line</Trans>
        </label>
        <textarea
          id={id}
          rows={4}
          dir="ltr"
          placeholder={t`192.0.2.0/24 office`}
          aria-describedby={`${id}-note`}
          className={`${inputClass} h-auto py-2 font-mono`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <p id={`${id}-note`} className="text-muted-foreground text-xs">
          <Trans>
            IPv4 or IPv6, with a note behind it. Empty: from anywhere. You are at{" "}
            <span dir="ltr">{address}</span>.
          </Trans>
        </p>
      </div>
      <div className="flex flex-col gap-1.5">
        <label htmlFor={`${id}-directory`} className="font-medium text-sm">
          <Trans>Networks of the directory, one a line</Trans>
        </label>
        <textarea
          id={`${id}-directory`}
          rows={2}
          dir="ltr"
          aria-describedby={`${id}-directory-note`}
          className={`${inputClass} h-auto py-2 font-mono`}
          value={directory}
          onChange={(event) => setDirectory(event.target.value)}
        />
        <p id={`${id}-directory-note`} className="text-muted-foreground text-xs">
          <Trans>
            Your directory calls SCIM from the networks above, or from these, which let no people
            in.
          </Trans>
        </p>
      </div>
      <Button type="submit" className="self-start" busy={save.isPending}>
        <Trans>Save the networks</Trans>
      </Button>
    </form>
  );
}

function written({ networks }: AllowedNetworks, forDirectory: boolean): string {
  return networks
    .filter((network) => network.for_directory === forDirectory)
    .map(({ cidr, note }) => `${cidr} ${note}`.trim())
    .join("\n");
}

function parsed(text: string, forDirectory: boolean): NetworksChange["networks"] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [cidr = "", ...note] = line.split(/\s+/);
      return { cidr, note: note.join(" "), for_directory: forDirectory };
    });
}
