import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { listModels } from "@/api/account";
import { errorMessage } from "@/api/errors";
import type { Model, PendingModel } from "@/api/types";
import { modelsKey } from "@/chat/cache";
import { chatModels } from "@/chat/model-picker";
import { isOnItsWay } from "@/chat/queries";
import { Section } from "@/pages/page-layout";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";

/** The page is looked at while something fails: what it says is of now. */
const AGAIN_MS = 5_000;

/** Whether Parley is reached, and which models can answer. */
export function StateNow() {
  const models = useQuery({
    queryKey: modelsKey,
    queryFn: listModels,
    refetchInterval: AGAIN_MS,
    refetchOnMount: "always",
  });
  return (
    <Section title={t`Right now`}>
      {models.isPending ? (
        <Loading />
      ) : models.isError ? (
        <Notice tone="offline">{errorMessage(models.error)}</Notice>
      ) : (
        <States models={chatModels(models.data.data)} pending={models.data.pending} />
      )}
    </Section>
  );
}

function States({ models, pending }: { models: Model[]; pending: PendingModel[] }) {
  return (
    <ul className="flex flex-col gap-2 text-sm" aria-label={t`What works`}>
      <State good>
        <Trans>Parley answers this page.</Trans>
      </State>
      {models.map(({ id, name, status }) => (
        <State key={id} good={status === "ready" || status === "idle"}>
          <bdi className="font-medium">{name}</bdi>{" "}
          <span className="text-muted-foreground">{stateOf(status)}</span>
        </State>
      ))}
      {pending.map((model) => (
        <State key={model.id} good={false}>
          <bdi className="font-medium">{model.name}</bdi>{" "}
          <span className="text-muted-foreground">
            {isOnItsWay(model) ? t`is being fetched` : t`is not served here`}
          </span>
        </State>
      ))}
      {models.length + pending.length === 0 && (
        <State good={false}>
          <Trans>There is no model that chats. Whoever runs Parley has to add one.</Trans>
        </State>
      )}
    </ul>
  );
}

function State({ good, children }: { good: boolean; children: ReactNode }) {
  return (
    <li className="flex items-center gap-2.5">
      {good ? (
        <CircleCheck aria-hidden className="size-4 shrink-0 text-muted-foreground" />
      ) : (
        <CircleAlert aria-hidden className="size-4 shrink-0 text-warning" />
      )}
      <span>{children}</span>
    </li>
  );
}

function stateOf(status: Model["status"]): string {
  if (status === "ready") return t({ message: "answers", context: "state of a model" });
  if (status === "idle") return t`loads when asked`;
  if (status === "loading") return t({ message: "loading", context: "state of a model" });
  return t`not available now`;
}
