import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Share, SquarePen } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { useNavigate } from "react-router";
import type { Conversation, Model, PendingModel } from "@/api/types";
import { MobileNavButtons } from "@/app/mobile-nav";
import { cn } from "@/lib/cn";
import { late } from "@/lib/late";
import { buttonClass } from "@/ui/button";
import { IconButton } from "@/ui/icon-button";
import { AssistantBadge, AssistantItems } from "./assistants";
import { ChatSettingsButton } from "./chat-settings";
import { ModelOnItsWay } from "./model-on-its-way";
import { ModelPicker } from "./model-picker";
import { ProjectPicker } from "./project-picker";
import { TemporaryButton } from "./temporary";

const shareDialog = late(() => import("./share-dialog"));

interface ChatHeaderProps {
  conversation: Conversation | undefined;
  models: Model[];
  pending: PendingModel[];
  model: string;
  onModelChange: (id: string) => void;
  comparing: ComponentProps<typeof ModelPicker>["comparing"];
  assistant: { id: string; name: string } | null;
  project: ComponentProps<typeof ProjectPicker>;
  settings: ComponentProps<typeof ChatSettingsButton>;
  /** Null where it is too late to choose. */
  temporary: ComponentProps<typeof TemporaryButton> | null;
}

/** Above the messages: the model, and what can be done with the whole conversation. */
export function ChatHeader({
  conversation,
  models,
  pending,
  model,
  onModelChange,
  comparing,
  assistant,
  project,
  settings,
  temporary,
}: ChatHeaderProps) {
  const [sharing, setSharing] = useState(false);
  const [shared, setShared] = useState(false);
  const share = shareDialog.use(shared);
  const navigate = useNavigate();
  return (
    <header className="flex h-14 shrink-0 items-center justify-between gap-2 px-2 md:px-3">
      <div className="flex min-w-0 items-center gap-1">
        <MobileNavButtons />
        <h1 className="sr-only">{conversation?.title || t`New chat`}</h1>
        <ModelPicker
          models={models}
          pending={pending}
          value={model}
          onChange={onModelChange}
          comparing={comparing}
        >
          <AssistantItems />
        </ModelPicker>
        {assistant && <AssistantBadge {...assistant} />}
        <ProjectPicker {...project} />
        <ModelOnItsWay
          models={models}
          pending={pending}
          // On a phone a chat's buttons need the room.
          className={conversation ? "max-sm:hidden" : undefined}
        />
      </div>
      <div className="flex items-center">
        {temporary && <TemporaryButton {...temporary} />}
        <ChatSettingsButton {...settings} />
        {conversation && conversation.messages.length > 0 && (
          <>
            {!conversation.temporary && (
              <>
                <button
                  type="button"
                  onClick={() => {
                    setShared(true);
                    setSharing(true);
                  }}
                  className={cn(buttonClass("ghost", "sm"), "h-9")}
                >
                  <Share aria-hidden className="size-4" />
                  <span className="max-sm:sr-only">
                    <Trans context="verb">Share</Trans>
                  </span>
                </button>
                {share && (
                  <share.ShareDialog
                    conversationId={conversation.id}
                    open={sharing}
                    onOpenChange={setSharing}
                  />
                )}
              </>
            )}
            <IconButton
              label={t`New chat`}
              className="md:hidden"
              onClick={() => void navigate("/")}
            >
              <SquarePen className="size-5" />
            </IconButton>
          </>
        )}
      </div>
    </header>
  );
}
