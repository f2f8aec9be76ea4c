/** A conversation, or a new one: joins what is stored, what is coming and what can be done. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { useParams } from "react-router";
import { getChatDefaults, patchConversation } from "@/api/conversations";
import { ApiError, errorMessage, NetworkError } from "@/api/errors";
import type { Assistant, ChatParameters, Conversation, Part } from "@/api/types";
import { useMe } from "@/app/session";
import { WithArtifact } from "@/artifacts/beside";
import { HelpLink } from "@/help/link";
import { useDocumentTitle } from "@/lib/document-title";
import { useHotkey } from "@/lib/hotkeys";
import { isUuid } from "@/lib/uuid";
import { NotFound } from "@/pages/not-found";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { Announcer } from "./announcer";
import { useAssistant } from "./assistants";
import { changeShown, chatDefaultsKey, refreshConversation } from "./cache";
import { ChatHeader } from "./chat-header";
import type { ChatSettings } from "./chat-settings";
import { modelForNewChat, useChosenModel } from "./chosen-model";
import { useProjectOf } from "./chosen-project";
import { stopComparison } from "./compare";
import { isComparing, messagesAbove, useComparison } from "./comparison";
import { ComposerFooter } from "./composer";
import { ContextGauge } from "./context-gauge";
import { useContextUse } from "./context-use";
import { NEW_CHAT } from "./drafts";
import { isRunning, useLiveAnswer } from "./live";
import { ModelOutage } from "./model-outage";
import { chatModels } from "./model-picker";
import { placeOf, useHeld } from "./outbox-store";
import { parametersOf, written } from "./parameter-fields";
import { isReadFirst, readFirst, useConversation, useModelList, useViewMessages } from "./queries";
import { queue } from "./queued";
import { QueuedMessage } from "./queued-message";
import { useRestoredComparison } from "./restored-comparison";
import { RunPrograms } from "./run-programs";
import { ChatRuntime } from "./runtime";
import { SideBySide } from "./side-by-side";
import { SummaryFold } from "./summary-fold";
import { TemporaryNotice, useEndOnLeave } from "./temporary";
import { Thread } from "./thread";
import { ThreadActionsProvider } from "./thread-actions-provider";
import { stopAnswer } from "./turns";
import { useSending } from "./use-sending";
import { useToolStop } from "./use-tool-stop";
import { useGoAlong } from "./waiting-messages";
import { useWebOf } from "./web-switch";
import { Welcome } from "./welcome";

export { readFirst };

const NO_PAGES: Conversation[] = [];
const NO_MODELS: string[] = [];
const NO_PARAMETERS = parametersOf(written({} as ChatParameters));

export function ChatPage() {
  const { id, assistantId } = useParams();
  if (id !== undefined && !isUuid(id)) return <NotFound what="conversation" />;
  if (assistantId !== undefined && !isUuid(assistantId)) return <NotFound what="assistant" />;
  // A key for each conversation, so that no half-written edit is carried to the next one.
  return <Chat key={id ?? assistantId ?? "new"} id={id} assistantId={assistantId} />;
}

interface ChatProps {
  /** Absent: a new chat. */
  id: string | undefined;
  /** Of a new one. */
  assistantId: string | undefined;
}

function Chat({ id, assistantId }: ChatProps) {
  const me = useMe();
  const query = useConversation(id);
  const pages = query.data?.pages ?? NO_PAGES;
  const conversation = pages[0];
  const branch = useViewMessages(id, pages);
  useRestoredComparison(conversation);
  const comparison = useComparison(id);
  const messages = useMemo(
    () => (comparison ? messagesAbove(branch, comparison) : branch),
    [branch, comparison],
  );
  const live = useLiveAnswer(id);
  const [compared, setCompared] = useState(NO_MODELS);
  const waiting = useHeld(id ?? placeOf(assistantId), live?.sent?.key);
  useGoAlong(id ?? placeOf(assistantId), waiting);
  const assistant = useAssistant(assistantId);
  const { models, pending, model, changeModel } = useModelOf(id, conversation, assistant.data);
  const { projects, project, changeProject } = useProjectOf(id, conversation);
  const [temporary, setTemporary] = useState(false);
  useEndOnLeave(conversation?.temporary ? id : undefined);
  const settings = useSettingsOf(id, conversation, assistant.data);
  const { web, ofNewChat: searches, stored: webStored } = useWebOf(id, conversation, model);
  const first = useMemo(
    () => ({ ...settings.ofNewChat, ...(searches && { web_search: true }) }),
    [settings.ofNewChat, searches],
  );
  const {
    send: sendAtOnce,
    starting,
    abandon,
  } = useSending(
    id,
    model?.id ?? "",
    project,
    first,
    conversation?.temporary ?? temporary,
    assistantId ?? null,
    messages,
    compared,
  );
  const undecided = comparison !== null;
  const send = useCallback(
    async (parts: Part[]) => {
      if (undecided) {
        toast(t`Choose the answer to continue with first.`);
        throw new Error("an answer is to be chosen first");
      }
      await webStored();
      setCompared(NO_MODELS);
      await sendAtOnce(parts);
    },
    [undecided, webStored, sendAtOnce],
  );
  const { calling, stopTools } = useToolStop(id);
  const running = starting || calling || isRunning(live) || isComparing(comparison);
  const summary = useContextUse(conversation, running)?.summary;
  const stop = useCallback(async () => {
    const warn = (error: unknown) => toast(errorMessage(error));
    if (id) await Promise.all([stopAnswer(id), stopComparison(id), stopTools()]).catch(warn);
    else abandon();
  }, [id, abandon, stopTools]);
  useHotkey("escape", stop, running);
  // The thread is rendered in slices between which the browser draws and answers a touch. With the
  // page it comes after the rest.
  const [opening] = useState(() => isReadFirst(id));
  const arrived = messages.length + waiting.length > 0 || query.isSuccess;
  const known = useDeferredValue(arrived, arrived && !opening);
  useDocumentTitle(conversation?.title || (id ? t`Chat` : t`New chat`));

  if (query.error instanceof ApiError && query.error.status === 404) {
    return <NotFound what="conversation" />;
  }
  if (assistant.error instanceof ApiError && assistant.error.status === 404) {
    return <NotFound what="assistant" />;
  }
  return (
    <ChatRuntime
      draftOf={id ?? NEW_CHAT}
      running={running}
      model={model}
      send={send}
      stop={stop}
      warn={toast}
    >
      <ThreadActionsProvider
        conversationId={id}
        model={model?.id ?? ""}
        running={running || undecided}
      >
        <WithArtifact messages={messages}>
          <ChatHeader
            conversation={conversation}
            models={models}
            pending={pending}
            model={model?.id ?? ""}
            onModelChange={changeModel}
            comparing={undecided ? null : { value: compared, onChange: setCompared }}
            assistant={conversation?.assistant ?? assistant.data ?? null}
            project={{ projects, value: project, onChange: changeProject }}
            settings={settings}
            temporary={id ? null : { value: temporary, onChange: setTemporary }}
          />
          {(conversation?.temporary || (!id && temporary)) && <TemporaryNotice />}
          <ModelOutage model={model} models={models} />
          {id && <RunPrograms conversationId={id} messages={messages} />}
          {id === undefined && waiting.length === 0 ? (
            assistantId && assistant.isPending ? (
              <Loading label={t`Loading the assistant`} />
            ) : (
              <Welcome
                name={me.user.name.split(" ")[0] ?? ""}
                assistant={assistant.data}
                web={web}
              />
            )
          ) : known ? (
            <Thread
              messages={messages}
              waiting={waiting}
              hasOlder={query.hasNextPage}
              loadingOlder={query.isFetchingNextPage}
              olderFailed={query.isFetchNextPageError}
              loadOlder={() => void query.fetchNextPage()}
              fold={
                id && summary
                  ? {
                      after: summary.through_message_id,
                      content: <SummaryFold conversationId={id} summary={summary} />,
                    }
                  : null
              }
              comparison={
                id && comparison
                  ? {
                      shown: (
                        <SideBySide conversationId={id} comparison={comparison} models={models} />
                      ),
                      sentAt: comparison.sent.at,
                    }
                  : null
              }
              footer={
                <ComposerFooter
                  onQueue={
                    id && !undecided ? (text) => queue(id, [{ type: "text", text }]) : undefined
                  }
                  onSteer={() => void stop()}
                  web={web}
                  gauge={
                    conversation &&
                    models.some((one) => one.id === conversation.model) && (
                      <ContextGauge conversation={conversation} running={running} />
                    )
                  }
                >
                  {id && (
                    <QueuedMessage
                      conversationId={id}
                      // After a reload its stream is joined a moment later.
                      running={running || conversation?.generation != null}
                      send={send}
                      stop={stop}
                    />
                  )}
                </ComposerFooter>
              }
            />
          ) : arrived && opening ? null : query.isError ? (
            <LoadFailed error={query.error} retry={() => void query.refetch()} />
          ) : (
            <Loading label={t`Loading the conversation`} />
          )}
          <Announcer live={comparison?.columns.find(({ ended }) => !ended)?.live ?? live} />
        </WithArtifact>
      </ThreadActionsProvider>
    </ChatRuntime>
  );
}

function LoadFailed({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div className="mx-auto w-full max-w-3xl flex-1 p-6">
      <Notice
        tone="error"
        title={t`The conversation could not be loaded`}
        actions={
          <>
            <Button variant="outline" size="sm" onClick={retry}>
              <Trans>Try again</Trans>
            </Button>
            <HelpLink topic={error instanceof NetworkError ? "offline" : "failed"} />
          </>
        }
      >
        {errorMessage(error)}
      </Notice>
    </div>
  );
}

/** This chat's instructions and parameters: those of a new one wait for its first message. */
function useSettingsOf(
  id: string | undefined,
  conversation: Conversation | undefined,
  assistant: Assistant | undefined,
) {
  const client = useQueryClient();
  const defaults = useQuery({ queryKey: chatDefaultsKey, queryFn: getChatDefaults, enabled: !id });
  const [ofNewChat, setOfNewChat] = useState<ChatSettings | null>(null);
  const stored = conversation && {
    instructions: conversation.instructions,
    parameters: conversation.parameters,
  };
  const begun = {
    instructions: "",
    parameters: {
      ...(defaults.data?.parameters ?? NO_PARAMETERS),
      ...setParameters(assistant?.parameters),
    },
  };
  const onSave = async (value: ChatSettings) => {
    if (!id) return setOfNewChat(value);
    await patchConversation(id, value);
    await refreshConversation(client, id);
  };
  return { value: stored ?? ofNewChat ?? begun, onSave, ofNewChat };
}

/** The model that answers here, and how to change it: the conversation's, or the next one's. */
function useModelOf(
  id: string | undefined,
  conversation: Conversation | undefined,
  assistant: Assistant | undefined,
) {
  const client = useQueryClient();
  const { chosen, choose } = useChosenModel();
  const list = useModelList();
  const models = chatModels(list.data);
  const own = models.find((candidate) => candidate.id === conversation?.model);
  const [picked, pick] = useState<string | null>(null);
  const ofAssistant = models.find((candidate) => candidate.id === (picked ?? assistant?.model));
  const model = own ?? (assistant && ofAssistant) ?? modelForNewChat(models, chosen);

  const changeModel = (next: string) => {
    pick(next);
    // An assistant's model says nothing of chats without it.
    if (!assistant) choose(next);
    if (!id) return;
    void changeShown(client, id, { model: next }, (row) => ({ ...row, model: next })).then(
      (takeBack) =>
        patchConversation(id, { model: next }).catch((error) => {
          takeBack();
          toast(errorMessage(error));
        }),
    );
  };
  return { models, pending: list.pending, model, changeModel };
}

/** Those that are set: the others leave what is there. */
const setParameters = (parameters: ChatParameters | undefined): Partial<ChatParameters> =>
  Object.fromEntries(Object.entries(parameters ?? {}).filter(([, value]) => value !== null));
