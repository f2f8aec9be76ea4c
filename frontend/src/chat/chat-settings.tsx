import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { errorMessage } from "@/api/errors";
import type { ChatParameters } from "@/api/types";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { IconButton } from "@/ui/icon-button";
import { Notice } from "@/ui/notice";
import { TextArea } from "@/ui/text-area";
import { ParameterFields, parametersOf, written } from "./parameter-fields";

/** What one chat keeps to. */
export interface ChatSettings {
  instructions: string;
  parameters: ChatParameters;
}

interface ChatSettingsProps {
  value: ChatSettings;
  /** Rejects when it was not saved. */
  onSave: (value: ChatSettings) => Promise<void>;
}

/** A button to this chat's instructions and parameters. */
export function ChatSettingsButton(props: ChatSettingsProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t`Chat settings`} onClick={() => setOpen(true)}>
        <SlidersHorizontal className="size-4.5" />
      </IconButton>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={t`Chat settings`}
        description={t`They hold for this chat, from the next answer on.`}
        className="max-w-lg"
      >
        <SettingsForm {...props} done={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function SettingsForm({ value, onSave, done }: ChatSettingsProps & { done: () => void }) {
  const [instructions, setInstructions] = useState(value.instructions);
  const [fields, setFields] = useState(() => written(value.parameters));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        onSave({ instructions, parameters: parametersOf(fields) })
          .then(done, setFailure)
          .finally(() => setBusy(false));
      }}
    >
      {failure !== null && <Notice tone="error">{errorMessage(failure)}</Notice>}
      <TextArea
        label={t`Instructions`}
        hint={t`The model reads them before the messages: a role, a language, a format.`}
        maxLength={20_000}
        rows={5}
        value={instructions}
        onChange={(event) => setInstructions(event.target.value)}
      />
      <ParameterFields value={fields} onChange={setFields} />
      <DialogActions>
        <Button type="submit" busy={busy}>
          <Trans>Save</Trans>
        </Button>
      </DialogActions>
    </form>
  );
}
