import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, Copy } from "lucide-react";
import { type FormEvent, useState } from "react";
import { createKey, type KeyRequest } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { allProjects, managesPeople, projectName } from "@/api/teams";
import type { NewApiKey, Scope } from "@/api/types";
import { useMe } from "@/app/session";
import { useCopy } from "@/lib/clipboard";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { Select } from "@/ui/select";
import { Quickstart } from "./quickstart";

interface NewKeyDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

type Lifetime = "30" | "90" | "365" | "none";

// Those of every role first; the others are given by owners and admins.
const scopeNames: { value: Scope; label: MessageDescriptor }[] = [
  { value: "inference", label: msg`Models` },
  { value: "conversations", label: msg`Chats` },
  { value: "usage", label: msg`Usage` },
  { value: "keys", label: msg`Keys` },
  { value: "audit", label: msg`Audit log` },
  { value: "administration", label: msg`Administration` },
];

const DAY_MS = 86_400_000;

/** Creates a key and shows its secret: here, now, and never again. */
export function NewKeyDialog({ open, onOpenChange }: NewKeyDialogProps) {
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createKey,
    onSuccess: () => client.invalidateQueries({ queryKey: ["keys"] }),
  });
  const change = (next: boolean) => {
    onOpenChange(next);
    if (!next) create.reset();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      {...(create.data && { className: "max-w-xl" })}
      title={create.data ? t`Your new key` : t`Create an API key`}
      description={
        create.data
          ? t`Copy it now: it is stored only as a hash, and never shown again.`
          : undefined
      }
    >
      {create.error && <Notice tone="error">{errorMessage(create.error)}</Notice>}
      {create.data ? (
        <Secret apiKey={create.data} onDone={() => change(false)} />
      ) : (
        <KeyForm busy={create.isPending} onSubmit={(body) => create.mutate(body)} />
      )}
    </Dialog>
  );
}

interface KeyFormProps {
  busy: boolean;
  onSubmit: (body: KeyRequest) => void;
}

function KeyForm({ busy, onSubmit }: KeyFormProps) {
  const [name, setName] = useState("");
  const [lifetime, setLifetime] = useState<Lifetime>("90");
  const [project, setProject] = useState("");
  const [scopes, setScopes] = useState<Scope[]>([]);
  const projects = useQuery({ queryKey: ["projects", "all"], queryFn: allProjects });
  const toggle = (scope: Scope) =>
    setScopes((chosen) =>
      chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope],
    );
  const offered = managesPeople(useMe().role) ? scopeNames : scopeNames.slice(0, 4);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const expires =
      lifetime === "none" ? {} : { expires_at: inDays(Number(lifetime)).toISOString() };
    onSubmit({
      name: name.trim(),
      ...expires,
      ...(project && { project_id: project }),
      ...(scopes.length > 0 && { scopes }),
    });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field
        label={t`Name`}
        required
        maxLength={100}
        autoFocus
        placeholder={t`Nightly report`}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <div className="flex flex-col items-start gap-1.5">
        <span className="font-medium text-sm">
          <Trans>Expires after</Trans>
        </span>
        <Segmented
          label={t`Expires after`}
          value={lifetime}
          onChange={setLifetime}
          options={[
            { value: "30", label: t`30 days` },
            { value: "90", label: t`90 days` },
            { value: "365", label: t`1 year` },
            { value: "none", label: t({ message: "Never", context: "expires" }) },
          ]}
        />
      </div>
      <Select
        label={t`Project`}
        value={project}
        onChange={setProject}
        options={(projects.data ?? []).map((each) => ({
          value: each.is_default ? "" : each.id,
          label: projectName(each),
        }))}
      />
      <fieldset className="flex flex-col gap-1.5">
        <legend className="mb-1.5 font-medium text-sm">
          <Trans>May be used for</Trans>
        </legend>
        <div className="grid grid-cols-2 gap-x-4">
          {offered.map(({ value, label }) => (
            <label key={value} className="flex min-h-8 items-center gap-2.5 text-sm">
              <input
                type="checkbox"
                className="size-4"
                checked={scopes.includes(value)}
                onChange={() => toggle(value)}
              />
              {t(label)}
            </label>
          ))}
        </div>
        <p className="text-muted-foreground text-xs">
          <Trans>None chosen: everything but administration.</Trans>
        </p>
      </fieldset>
      <DialogActions>
        <Button type="submit" busy={busy} disabled={!name.trim()}>
          <Trans>Create key</Trans>
        </Button>
      </DialogActions>
    </form>
  );
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

function Secret({ apiKey, onDone }: { apiKey: NewApiKey; onDone: () => void }) {
  const [copied, copy] = useCopy();
  return (
    <>
      <input
        readOnly
        dir="ltr"
        aria-label={t`Secret key`}
        value={apiKey.secret}
        onFocus={(event) => event.target.select()}
        className={`${inputClass} shrink-0 font-mono`}
      />
      <h3 className="font-medium text-sm">
        <Trans>Quickstart</Trans>
      </h3>
      <Quickstart secret={apiKey.secret} />
      <DialogActions>
        <Button variant="outline" onClick={onDone}>
          <Trans context="button">Done</Trans>
        </Button>
        <Button onClick={() => void copy(apiKey.secret)}>
          {copied ? (
            <Check aria-hidden className="size-4" />
          ) : (
            <Copy aria-hidden className="size-4" />
          )}
          {copied ? t`Copied` : t`Copy key`}
        </Button>
      </DialogActions>
    </>
  );
}
