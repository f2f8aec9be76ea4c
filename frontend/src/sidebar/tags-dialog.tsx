import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { listTags, patchConversation } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { ConversationSummary } from "@/api/types";
import { refreshLists, tagsKey } from "@/chat/cache";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";

/** With the commas of Japanese, Chinese and Arabic keyboards too. */
const COMMA = /[,、，،]/;

const tagsIn = (text: string) =>
  text
    .split(COMMA)
    .map((tag) => tag.trim())
    .filter(Boolean);

/** The tags of a chat: a line of words with commas between, and those of other chats to take. */
export default function TagsDialog({
  row,
  close,
}: {
  row: ConversationSummary;
  close: () => void;
}) {
  const client = useQueryClient();
  const [text, setText] = useState(row.tags.join(", "));
  const known = useQuery({ queryKey: tagsKey, queryFn: listTags });
  const save = useMutation({
    mutationFn: () => patchConversation(row.id, { tags: tagsIn(text) }),
    onSuccess: () => {
      refreshLists(client);
      void client.invalidateQueries({ queryKey: tagsKey });
      close();
    },
  });
  const given = tagsIn(text).map((tag) => tag.toLowerCase());
  const others = (known.data?.data ?? []).filter(({ tag }) => !given.includes(tag.toLowerCase()));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={t`Tags`}
      description={t`Your own words for this chat, with commas between. Only you see them.`}
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
        <input
          aria-label={t`Tags`}
          dir="auto"
          className={inputClass}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {others.length > 0 && (
          <div className="flex flex-wrap gap-2">
            {others.slice(0, 20).map(({ tag }) => (
              <Button
                key={tag}
                variant="outline"
                size="sm"
                onClick={() => setText([...tagsIn(text), tag].join(", "))}
              >
                <bdi>{tag}</bdi>
              </Button>
            ))}
          </div>
        )}
        <DialogActions>
          <Button variant="outline" onClick={close}>
            <Trans>Cancel</Trans>
          </Button>
          <Button type="submit" busy={save.isPending}>
            <Trans>Save</Trans>
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
