import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { getChatDefaults, putChatDefaults } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { ChatDefaults } from "@/api/types";
import { chatDefaultsKey } from "@/chat/cache";
import { ParameterFields, parametersOf, written } from "@/chat/parameter-fields";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { TextArea } from "@/ui/text-area";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";

/** What every chat of a person keeps to. */
export function InstructionsSection() {
  const defaults = useQuery({ queryKey: chatDefaultsKey, queryFn: getChatDefaults });
  return (
    <Section title={t`Instructions`}>
      {defaults.isPending ? (
        <Loading />
      ) : defaults.isError ? (
        <Notice tone="error">{errorMessage(defaults.error)}</Notice>
      ) : (
        <InstructionsForm value={defaults.data} />
      )}
    </Section>
  );
}

function InstructionsForm({ value }: { value: ChatDefaults }) {
  const client = useQueryClient();
  const [about, setAbout] = useState(value.about);
  const [style, setStyle] = useState(value.style);
  const [fields, setFields] = useState(() => written(value.parameters));
  const [summarises, setSummarises] = useState(value.summarises);
  const save = useMutation({
    mutationFn: () =>
      putChatDefaults({ about, style, parameters: parametersOf(fields), summarises }),
    onSuccess: (saved) => {
      client.setQueryData(chatDefaultsKey, saved);
      toast(t`Your instructions are saved.`);
    },
  });
  return (
    <form
      className="flex max-w-md flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
      <TextArea
        label={t`About you`}
        hint={t`What the model should know of you in every chat.`}
        maxLength={4000}
        value={about}
        onChange={(event) => setAbout(event.target.value)}
      />
      <TextArea
        label={t`How to answer`}
        hint={t`Tone, length, language, format.`}
        maxLength={4000}
        value={style}
        onChange={(event) => setStyle(event.target.value)}
      />
      <Checkbox
        label={t`Summarise the beginning of long chats`}
        hint={t`When a chat is nearly full, its model sums up the oldest messages and reads that in their place. It counts as use.`}
        checked={summarises}
        onChange={setSummarises}
      />
      <ParameterFields value={fields} onChange={setFields} />
      <p className="text-muted-foreground text-xs">
        <Trans>
          Instructions hold from the next answer on; the advanced settings are what a new chat
          begins with. Both are for this organization only, and only you can read them.
        </Trans>
      </p>
      <Button type="submit" className="self-start" busy={save.isPending}>
        <Trans>Save instructions</Trans>
      </Button>
    </form>
  );
}
