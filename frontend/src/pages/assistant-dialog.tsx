import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import {
  type AssistantBody,
  addAssistantFile,
  createAssistant,
  listAssistantFiles,
  removeAssistantFile,
  updateAssistant,
} from "@/api/assistants";
import type { Assistant, Role } from "@/api/types";
import { assistantsKey } from "@/chat/cache";
import { chatModels } from "@/chat/model-picker";
import { ParameterFields, parametersOf, written } from "@/chat/parameter-fields";
import { useModelList } from "@/chat/queries";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { TextArea } from "@/ui/text-area";
import { AssistantTools } from "./assistant-tools";
import { FilesList } from "./files-list";
import { roleName, roles } from "./organization-roles";
import { useChange } from "./use-change";

const EMPTY: AssistantBody = {
  name: "",
  description: "",
  instructions: "",
  model: null,
  parameters: {} as AssistantBody["parameters"],
  starters: [],
  tools: null,
  seen_by: [],
  edited_by: [],
};

interface AssistantDialogProps {
  /** Null: a new one. */
  assistant: Assistant | null;
  onClose: () => void;
}

/** All that an assistant is, to be written and shared. */
export function AssistantDialog({ assistant, onClose }: AssistantDialogProps) {
  const before = assistant ?? EMPTY;
  const [body, setBody] = useState<AssistantBody>({ ...before });
  const [starters, setStarters] = useState(before.starters.join("\n"));
  const [tools, setTools] = useState(assistant?.tools ?? null);
  const [fields, setFields] = useState(() => written(before.parameters));
  const models = chatModels(useModelList().data);
  const save = useChange(
    assistantsKey,
    () => {
      const whole = {
        name: body.name,
        description: body.description,
        instructions: body.instructions,
        model: body.model,
        seen_by: body.seen_by,
        edited_by: body.edited_by,
        starters: starters.split("\n").filter((line) => line.trim()),
        parameters: parametersOf(fields),
        tools: tools === null ? null : tools.map(({ server_id, name }) => ({ server_id, name })),
      };
      return assistant ? updateAssistant(assistant.id, whole) : createAssistant(whole);
    },
    onClose,
  );
  const set = (change: Partial<AssistantBody>) => setBody((now) => ({ ...now, ...change }));
  const known = models.some(({ id }) => id === body.model) || body.model === null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={assistant ? t`Edit the assistant` : t`Create an assistant`}
      className="max-w-xl"
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field
          label={t`Name`}
          dir="auto"
          required
          maxLength={100}
          value={body.name}
          onChange={(event) => set({ name: event.target.value })}
        />
        <Field
          label={t`Description`}
          dir="auto"
          maxLength={500}
          hint={t`One line: what it is good for.`}
          value={body.description}
          onChange={(event) => set({ description: event.target.value })}
        />
        <TextArea
          label={t`Instructions`}
          hint={t`The model reads them before the messages of each chat. Whoever may use the assistant can read them.`}
          maxLength={20_000}
          rows={6}
          value={body.instructions}
          onChange={(event) => set({ instructions: event.target.value })}
        />
        <TextArea
          label={t`Starters`}
          hint={t`Up to six prompts that an empty chat offers, one in each line.`}
          rows={3}
          value={starters}
          onChange={(event) => setStarters(event.target.value)}
        />
        <Select
          label={t`Model`}
          value={body.model ?? ""}
          onChange={(model) => set({ model: model || null })}
          options={[
            { value: "", label: t`The one that the person has chosen` },
            ...models.map(({ id, name }) => ({ value: id, label: name })),
            ...(known || !body.model ? [] : [{ value: body.model, label: body.model }]),
          ]}
        />
        <AssistantTools value={tools} onChange={setTools} />
        <Files assistant={assistant} />
        <ParameterFields value={fields} onChange={setFields} />
        <Sharing
          seen={body.seen_by}
          edited={body.edited_by}
          onChange={(seen_by, edited_by) => set({ seen_by, edited_by })}
        />
        <DialogActions>
          <Button type="submit" busy={save.isPending} disabled={!body.name.trim()}>
            <Trans>Save</Trans>
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** What the model reads in every chat with it. They are kept as they are added, before "Save". */
function Files({ assistant }: { assistant: Assistant | null }) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-medium text-sm">
        <Trans>Files</Trans>
      </h3>
      {assistant ? (
        <FilesList
          queryKey={[...assistantsKey, assistant.id, "files"]}
          load={() => listAssistantFiles(assistant.id)}
          change={{
            add: (upload) => addAssistantFile(assistant.id, upload),
            remove: (file) => removeAssistantFile(assistant.id, file),
          }}
          empty={t`There are no files yet.`}
        />
      ) : (
        <p className="text-sm">
          <Trans>They are added once the assistant is saved.</Trans>
        </p>
      )}
      <p className="text-muted-foreground text-xs">
        <Trans>
          The model reads them in every chat with the assistant. Whoever may use the assistant can
          open them.
        </Trans>
      </p>
    </section>
  );
}

const MAY: Record<Role, MessageDescriptor> = {
  owner: msg`What owners may do`,
  admin: msg`What admins may do`,
  member: msg`What members may do`,
  finance: msg`What finances may do`,
  viewer: msg`What viewers may do`,
};

type Access = "none" | "see" | "edit";

interface SharingProps {
  seen: Role[];
  edited: Role[];
  onChange: (seen: Role[], edited: Role[]) => void;
}

/** What each role of the organization may do with it. */
function Sharing({ seen, edited, onChange }: SharingProps) {
  const accessOf = (role: Role): Access =>
    edited.includes(role) ? "edit" : seen.includes(role) ? "see" : "none";
  const change = (role: Role, access: Access) => {
    const without = (list: Role[]) => list.filter((each) => each !== role);
    onChange(
      access === "see" ? [...without(seen), role] : without(seen),
      access === "edit" ? [...without(edited), role] : without(edited),
    );
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 font-medium text-sm">
        <Trans>Shared in the organization with</Trans>
      </legend>
      {roles.map((role) => (
        <div key={role} className="flex items-center justify-between gap-4 text-sm">
          <span aria-hidden>{roleName(role)}</span>
          <Select<Access>
            quiet
            label={t(MAY[role])}
            value={accessOf(role)}
            onChange={(access) => change(role, access)}
            options={[
              { value: "none", label: t({ message: "Nothing", context: "what a role may do" }) },
              { value: "see", label: t({ message: "Use it", context: "what a role may do" }) },
              {
                value: "edit",
                label: t({ message: "Use and change it", context: "what a role may do" }),
              },
            ]}
          />
        </div>
      ))}
      <p className="text-muted-foreground text-xs">
        <Trans>Owners and admins can use and change whatever is shared with anybody.</Trans>
      </p>
    </fieldset>
  );
}
