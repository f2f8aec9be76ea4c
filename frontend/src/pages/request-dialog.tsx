import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { getRequestLog } from "@/api/request-logs";
import type { RequestLogView } from "@/api/types";
import { CopyButton } from "@/chat/copy-button";
import { useModelList } from "@/chat/queries";
import { curlOf } from "@/playground/body";
import { CodeBox } from "@/playground/code";
import { ResultSection } from "@/playground/result";
import { useRun } from "@/playground/use-run";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";

/** What was asked and answered, and the same asked again. */
export function RequestDialog({ id, onClose }: { id: string | null; onClose: () => void }) {
  return (
    <Dialog
      open={id !== null}
      onOpenChange={(open) => !open && onClose()}
      title={t({ message: "Request", context: "of the API" })}
      className="max-w-3xl"
    >
      {id !== null && <Content id={id} />}
    </Dialog>
  );
}

function Content({ id }: { id: string }) {
  // Read once each time it is opened: the audit log tells each reading.
  const log = useQuery({
    queryKey: ["request-logs", id],
    queryFn: () => getRequestLog(id),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (log.isPending) return <Loading />;
  if (log.isError) return <Notice tone="error">{errorMessage(log.error)}</Notice>;
  const { request, answer } = log.data;
  if (request === null) {
    return (
      <p className="text-muted-foreground text-sm">
        <Trans>
          Its content is not kept: it asked for that, was too long, or holds texts to be embedded.
        </Trans>
      </p>
    );
  }
  return (
    <>
      <Part title={t`Asked`} value={request} />
      {answer && <Part title={t`Answered`} value={answer} />}
      <Replay log={log.data} request={request} />
    </>
  );
}

function Part({ title, value }: { title: string; value: Record<string, unknown> }) {
  return (
    <div className="flex shrink-0 flex-col gap-2">
      <h3 className="font-medium text-sm">{title}</h3>
      <CodeBox label={title} code={JSON.stringify(value, null, 2)} />
    </div>
  );
}

interface ReplayProps {
  log: RequestLogView;
  request: Record<string, unknown>;
}

/** Asks the same as a chat, as whoever is signed in; the code asks exactly the same. */
function Replay({ log, request }: ReplayProps) {
  const { run, running, error, start, stop } = useRun();
  const models = useModelList().data;
  const { chat } = log;
  const model = models.find((one) => one.id === chat?.model) ?? models[0];
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        {chat && (
          <Button
            variant={running ? "outline" : "primary"}
            onClick={() => (running ? stop() : void start(chat))}
          >
            {running ? t`Stop` : t({ message: "Replay", context: "action" })}
          </Button>
        )}
        <CopyButton
          text={curlOf(`${window.location.origin}${log.path}`, request)}
          label={t`Copy as curl`}
        />
      </div>
      <p className="text-muted-foreground text-xs">
        {chat
          ? t`A replay is asked and billed as yours, not as the key's.`
          : t`This cannot be asked again here: it is no chat, or follows what is not in it.`}
      </p>
      {error && <Notice tone="error">{error}</Notice>}
      {run && <ResultSection run={run} model={model} />}
    </>
  );
}
