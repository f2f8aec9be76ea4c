import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { getMe } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { eraseOrganization, policyKey, putDataPolicy } from "@/api/privacy";
import type { DataPolicy } from "@/api/types";
import { useMe, useSetMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { ExportButton } from "./privacy-exports";
import { useGuard } from "./reauthentication";

const CHOICES = [0, 1, 7, 30, 90, 365];
const label = (days: number) =>
  days === 0 ? t`Not at all after an answer` : plural(days, { one: "One day", other: "# days" });

/** For owners and admins: how long the organization keeps what its members write. */
export function OrganizationPolicy({ policy }: { policy: DataPolicy }) {
  const me = useMe();
  const client = useQueryClient();
  const id = useId();
  const [days, setDays] = useState(policy.retention_days);
  const [stores, setStores] = useState(policy.stores_api_calls);
  const [trains, setTrains] = useState(policy.allows_training);
  const [logs, setLogs] = useState(policy.logs_requests);
  const [logDays, setLogDays] = useState(String(policy.request_log_days));
  const save = useMutation({
    mutationFn: () =>
      putDataPolicy({
        retention_days: days,
        stores_api_calls: stores,
        allows_training: trains,
        logs_requests: logs,
        request_log_days: Number(logDays),
      }),
    onSuccess: (next) => {
      client.setQueryData(policyKey, next);
      toast(t`Saved. Older data follows within minutes.`);
    },
  });
  const organization = me.organization.name;
  const choices = days === null || CHOICES.includes(days) ? CHOICES : [...CHOICES, days];
  return (
    <Section title={t`Data of ${organization}`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
        <div className="flex flex-col gap-1.5">
          <label htmlFor={id} className="font-medium text-sm">
            <Trans>Keep chats and stored answers</Trans>
          </label>
          <select
            id={id}
            className={inputClass}
            value={days ?? ""}
            onChange={(event) =>
              setDays(event.target.value === "" ? null : Number(event.target.value))
            }
          >
            <option value="">
              <Trans>Until they are deleted</Trans>
            </option>
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {label(choice)}
              </option>
            ))}
          </select>
        </div>
        <Checkbox
          label={t`Store API calls`}
          hint={t`Off: every call is as with store set to false.`}
          checked={stores}
          onChange={setStores}
        />
        <Checkbox
          label={t`Log requests of API keys`}
          hint={t`What was asked and answered, encrypted; each reading is in the audit log. A project can be left out.`}
          checked={logs && stores}
          disabled={!stores}
          onChange={setLogs}
        />
        {logs && stores && (
          <Field
            label={t`Days that logged requests are kept`}
            type="number"
            required
            min={1}
            max={365}
            value={logDays}
            onChange={(event) => setLogDays(event.target.value)}
          />
        )}
        <Checkbox
          label={t`Feedback may improve classifiers and models`}
          checked={trains}
          onChange={setTrains}
        />
        <Button type="submit" className="self-start" busy={save.isPending}>
          <Trans>Save</Trans>
        </Button>
      </form>
      {me.role === "owner" && (
        <ExportButton scope="organization">
          <Trans>Ask for a copy of the organization's data</Trans>
        </ExportButton>
      )}
    </Section>
  );
}

/** The end of an organization, for all of its members, after its name was typed. */
export function OrganizationErasure() {
  const me = useMe();
  const setMe = useSetMe();
  const guard = useGuard();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const name = me.organization.name;
  const erase = useMutation({
    mutationFn: () => guard(() => eraseOrganization(name)),
    onSuccess: async () => {
      toast(t`${name} is being erased.`);
      setMe(await getMe());
    },
  });
  return (
    <Section title={t`Erase the organization`}>
      {erase.error && <Notice tone="error">{errorMessage(erase.error)}</Notice>}
      <p className="max-w-md text-muted-foreground text-sm">
        <Trans>
          It ends for all of its members: chats, files, projects and keys are erased within minutes.
          Their accounts stay, and so do invoices, as long as the law says.
        </Trans>
      </p>
      <Button variant="danger" className="self-start" onClick={() => setOpen(true)}>
        <Trans>Erase the organization</Trans>
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={t`Erase the organization?`}
        description={t`There is no way back. Type ${name} to go on.`}
      >
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            setOpen(false);
            erase.mutate();
          }}
        >
          <Field
            label={t`Name of the organization`}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <DialogActions>
            <Button variant="outline" onClick={() => setOpen(false)}>
              <Trans>Cancel</Trans>
            </Button>
            <Button type="submit" variant="danger" disabled={typed.trim() !== name}>
              <Trans>Erase for good</Trans>
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </Section>
  );
}
