import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getWithheld } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Message } from "@/api/types";
import { Dialog } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import type { ViewMessage } from "./view";

type File = Message["withheld"][number];

interface WithheldFilesProps {
  message: ViewMessage;
  /** Ids of the files that an answer above it says this of, with spaces between. */
  saidAbove: string;
}

/** Under an answer: the files that its model was not given, whose text its reader can look at. */
export function WithheldFiles({ message, saidAbove }: WithheldFilesProps) {
  const [shown, setShown] = useState<File | null>(null);
  const said = new Set(saidAbove.split(" "));
  const files = message.withheld.filter((file) => !said.has(file.attachment_id));
  if (files.length === 0) return null;
  return (
    <ul className="mt-2 flex flex-col gap-1 text-muted-foreground text-sm">
      {files.map((file) => (
        <li key={file.attachment_id}>
          {file.in_part ? (
            <Trans>
              The model was not given a part of <bdi>{file.filename}</bdi>, which reads like
              instructions to a model. It can be harmless.
            </Trans>
          ) : (
            <Trans>
              The model was not given the text of <bdi>{file.filename}</bdi>: it reads like
              instructions to a model. It can be harmless.
            </Trans>
          )}{" "}
          <button
            type="button"
            onClick={() => setShown(file)}
            className="min-h-6 cursor-pointer underline underline-offset-2 hover:text-foreground"
          >
            <Trans>Look at the text</Trans>
          </button>
        </li>
      ))}
      <Dialog
        open={shown !== null}
        onOpenChange={(open) => !open && setShown(null)}
        title={shown?.filename ?? ""}
        description={t`What the model was not given.`}
        className="max-w-2xl"
      >
        {shown && <TextOf messageId={message.id} file={shown} />}
      </Dialog>
    </ul>
  );
}

function TextOf({ messageId, file }: { messageId: string; file: File }) {
  const query = useQuery({
    queryKey: ["withheld", messageId],
    queryFn: () => getWithheld(messageId),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.isPending) return <Loading />;
  if (query.isError) return <Notice tone="error">{errorMessage(query.error)}</Notice>;
  const found = query.data.data.find((one) => one.attachment_id === file.attachment_id);
  if (!found) {
    return (
      <Notice tone="warning">
        <Trans>The file is not there any more.</Trans>
      </Notice>
    );
  }
  return (
    <p
      dir="auto"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
      tabIndex={0}
      className="max-h-[50dvh] overflow-y-auto whitespace-pre-wrap break-words text-sm leading-6"
    >
      {found.text}
    </p>
  );
}

/** Ids of the files that the answer above `index` was not given, with spaces between: one text,
 * which is equal where nothing has changed. */
export function withheldAbove(messages: ViewMessage[], index: number): string {
  const above = messages.slice(0, index).findLast(({ role }) => role !== "user");
  return (above?.withheld ?? []).map(({ attachment_id }) => attachment_id).join(" ");
}
