import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { getSentPrompt } from "@/api/conversations";
import { ApiError, errorMessage } from "@/api/errors";
import type { SentPrompt } from "@/api/types";
import { Dialog } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { StationBar } from "./station-bar";

const SOURCES: Partial<Record<string, MessageDescriptor>> = {
  shared: msg`answered together with an identical prompt`,
  exact: msg`a stored answer to an identical prompt`,
  outage: msg`a stored answer to an identical prompt, while the model could not answer`,
};

const SPEAKERS: Partial<Record<string, MessageDescriptor>> = {
  system: msg({ message: "system", context: "who a message is by" }),
  user: msg({ message: "user", context: "who a message is by" }),
  assistant: msg({ message: "assistant", context: "who a message is by" }),
  tool: msg({ message: "tool", context: "who a message is by" }),
};

interface SentDialogProps {
  messageId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** The prompt that was really sent for an answer. */
export function SentDialog({ messageId, open, onOpenChange }: SentDialogProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t`What was sent`}
      description={t`What the model read before it wrote this answer, and what that cost.`}
      className="max-w-2xl"
    >
      {open && <Sent messageId={messageId} />}
    </Dialog>
  );
}

function Sent({ messageId }: { messageId: string }) {
  const query = useQuery({
    queryKey: ["sent", messageId],
    queryFn: () => getSentPrompt(messageId),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.isPending) return <Loading />;
  if (query.isError) {
    return query.error instanceof ApiError && query.error.status === 404 ? (
      <Notice tone="warning">
        <Trans>It was not noted for this answer.</Trans>
      </Notice>
    ) : (
      <Notice tone="error">{errorMessage(query.error)}</Notice>
    );
  }
  return <Prompt sent={query.data} />;
}

function Prompt({ sent }: { sent: SentPrompt }) {
  const parameters = Object.entries(sent.parameters).filter(([, value]) => value !== null);
  const { model, input_tokens: read, output_tokens: written } = sent;
  const source = SOURCES[sent.answer_source];
  return (
    <div className="flex flex-col gap-4 text-sm">
      <p className="text-muted-foreground">
        {[
          ...(model ? [t`Model: ${model}`] : []),
          ...parameters.map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`),
          t`${read} tokens read, ${written} written`,
          ...(source ? [t(source)] : []),
          ...(sent.cost === null ? [] : [`${sent.cost} ${sent.currency}`]),
        ].join(" · ")}
      </p>
      {sent.stations && <StationBar stations={sent.stations} />}
      {sent.instructions && <Block speaker="system" text={sent.instructions} />}
      {sent.messages.map(({ role, text, images }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message is its position
        <Block key={index} speaker={role} text={text} images={images} />
      ))}
    </div>
  );
}

function Block({ speaker, text, images = 0 }: { speaker: string; text: string; images?: number }) {
  const known = SPEAKERS[speaker];
  return (
    <section>
      <h3 className="pb-1 font-medium text-muted-foreground text-xs">
        {known ? t(known) : speaker}
      </h3>
      <p dir="auto" className="whitespace-pre-wrap break-words rounded-xl bg-muted px-3.5 py-2.5">
        {text}
        {images > 0 && (
          <span className="text-muted-foreground">
            {text && "\n"}
            <Plural value={images} one="# image" other="# images" />
          </span>
        )}
      </p>
    </section>
  );
}
