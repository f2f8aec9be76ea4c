import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Brain, Pencil, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { errorMessage } from "@/api/errors";
import {
  deleteMemories,
  deleteMemory,
  getMemories,
  patchMemory,
  postMemory,
  putMemoryPolicy,
  putMemorySwitch,
} from "@/api/memories";
import { allProjects, projectName } from "@/api/teams";
import type { Memory, MemoryList } from "@/api/types";
import { useMe } from "@/app/session";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field, inputClass } from "@/ui/field";
import { IconButton } from "@/ui/icon-button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { memoriesKey } from "./memory-key";
import { EmptyState, PageLayout, Section } from "./page-layout";

const MAX_TEXT = 300;

/** What is remembered of the reader in this organization, and the switches. */
export function MemoryPage() {
  const memories = useQuery({ queryKey: memoriesKey, queryFn: getMemories });
  return (
    <PageLayout
      title={t`Memory`}
      description={t`What later chats know of you. It comes from your own words alone, is kept when you say so, and only you can read it.`}
    >
      {memories.isPending ? (
        <Loading />
      ) : memories.isError ? (
        <Notice tone="error">{errorMessage(memories.error)}</Notice>
      ) : (
        <>
          <Switches state={memories.data} />
          {memories.data.is_on && memories.data.is_allowed && <NewMemory />}
          <Remembered items={memories.data.data} />
        </>
      )}
    </PageLayout>
  );
}

function Switches({ state }: { state: MemoryList }) {
  const me = useMe();
  const manages = me.role === "owner" || me.role === "admin";
  const client = useQueryClient();
  const onSuccess = (next: MemoryList) => client.setQueryData(memoriesKey, next);
  const own = useMutation({ mutationFn: putMemorySwitch, onSuccess });
  const policy = useMutation({ mutationFn: putMemoryPolicy, onSuccess });
  const error = own.error ?? policy.error;
  return (
    <div className="flex flex-col gap-4">
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      {!state.is_allowed && (
        <Notice tone="warning">
          <Trans>
            Your organization has switched memory off: nothing is used, proposed or added.
          </Trans>
        </Notice>
      )}
      <Checkbox
        label={t`Use memory`}
        hint={t`Off: nothing is used, proposed or added. What is there stays until you forget it.`}
        checked={state.is_on}
        disabled={own.isPending}
        onChange={(isOn) => own.mutate(isOn)}
      />
      {manages && (
        <Checkbox
          label={t`Members of the organization may use memory`}
          checked={state.is_allowed}
          disabled={policy.isPending}
          onChange={(isAllowed) => policy.mutate(isAllowed)}
        />
      )}
    </div>
  );
}

function NewMemory() {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const add = useMutation({
    mutationFn: () => postMemory(text.trim()),
    onSuccess: () => {
      setText("");
      return client.invalidateQueries({ queryKey: memoriesKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form className="flex max-w-2xl flex-col gap-3" onSubmit={submit}>
      {add.error && <Notice tone="error">{errorMessage(add.error)}</Notice>}
      <Field
        label={t`Remember something`}
        hint={t`Or write “remember that …” in a chat.`}
        dir="auto"
        maxLength={MAX_TEXT}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button
        type="submit"
        variant="outline"
        className="self-start"
        busy={add.isPending}
        disabled={text.trim() === ""}
      >
        <Trans>Add</Trans>
      </Button>
    </form>
  );
}

function Remembered({ items }: { items: Memory[] }) {
  const me = useMe();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const inProjects = items.some(({ project_id }) => project_id !== null);
  const projects = useQuery({
    queryKey: ["projects", "of-chats", me.organization.id],
    queryFn: allProjects,
    staleTime: 60_000,
    enabled: inProjects,
  });
  const nameOf = (id: string | null) => {
    const project = projects.data?.find((one) => one.id === id);
    return project && projectName(project);
  };
  const clear = useMutation({
    mutationFn: deleteMemories,
    onSuccess: () => {
      setAsking(false);
      toast(t`Everything is forgotten.`);
      return client.invalidateQueries({ queryKey: memoriesKey });
    },
  });
  if (items.length === 0) {
    return (
      <EmptyState icon={<Brain aria-hidden />}>
        <Trans>Nothing is remembered of you.</Trans>
      </EmptyState>
    );
  }
  return (
    <Section title={t`Remembered`}>
      <ul
        aria-label={t`Remembered`}
        className="flex max-w-2xl flex-col overflow-hidden rounded-2xl border border-border"
      >
        {items.map((memory) => (
          <MemoryRow key={memory.id} memory={memory} project={nameOf(memory.project_id)} />
        ))}
      </ul>
      <Button variant="outline" className="self-start" onClick={() => setAsking(true)}>
        <Trans>Forget everything</Trans>
      </Button>
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title={t`Forget everything?`}
        description={t`All that is listed here is deleted. Chats stay as they are.`}
      >
        {clear.error && <Notice tone="error">{errorMessage(clear.error)}</Notice>}
        <DialogActions>
          <Button variant="outline" onClick={() => setAsking(false)}>
            <Trans>Cancel</Trans>
          </Button>
          <Button variant="danger" busy={clear.isPending} onClick={() => clear.mutate()}>
            <Trans>Forget everything</Trans>
          </Button>
        </DialogActions>
      </Dialog>
    </Section>
  );
}

function MemoryRow({ memory, project }: { memory: Memory; project: string | undefined }) {
  const client = useQueryClient();
  const [edited, setEdited] = useState<string | null>(null);
  const { text } = memory;
  const day = formatDay(memory.created_at);
  const name = project ?? "…";
  const change = useMutation({
    mutationFn: async (next: string | null) => {
      if (next === null) await deleteMemory(memory.id);
      else await patchMemory(memory.id, next);
    },
    onSuccess: () => {
      setEdited(null);
      return client.invalidateQueries({ queryKey: memoriesKey });
    },
  });
  return (
    <li className="flex flex-col gap-2 border-border border-b px-4 py-3 last:border-b-0">
      {change.error && <Notice tone="error">{errorMessage(change.error)}</Notice>}
      {edited === null ? (
        <div className="flex items-center justify-between gap-4">
          <span className="flex min-w-0 flex-col gap-1">
            <span dir="auto" className="break-words text-sm">
              {text}
            </span>
            <span className="text-muted-foreground text-xs">
              {[day, memory.project_id && t`in the project ${name}`].filter(Boolean).join(" · ")}
            </span>
          </span>
          <span className="flex shrink-0">
            <IconButton label={t`Edit: ${text}`} onClick={() => setEdited(text)}>
              <Pencil className="size-4" />
            </IconButton>
            <IconButton
              label={t`Forget: ${text}`}
              disabled={change.isPending}
              onClick={() => change.mutate(null)}
            >
              <Trash2 className="size-4" />
            </IconButton>
          </span>
        </div>
      ) : (
        <form
          className="flex flex-col gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate(edited.trim());
          }}
        >
          <input
            aria-label={t`What to remember`}
            dir="auto"
            maxLength={MAX_TEXT}
            className={inputClass}
            value={edited}
            onChange={(event) => setEdited(event.target.value)}
          />
          <div className="flex gap-2">
            <Button type="submit" size="sm" busy={change.isPending} disabled={!edited.trim()}>
              <Trans>Save</Trans>
            </Button>
            <Button variant="outline" size="sm" onClick={() => setEdited(null)}>
              <Trans>Cancel</Trans>
            </Button>
          </div>
        </form>
      )}
    </li>
  );
}
