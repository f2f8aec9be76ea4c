import { ComposerPrimitive, useAui, useAuiState } from "@assistant-ui/react";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ArrowUp, ListPlus, Plus, Square } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/lib/cn";
import { iconButtonClass } from "@/ui/icon-button";
import { Tip } from "@/ui/tooltip";
import { Dictation } from "@/voice/dictation";
import { ComposerAttachments } from "./composer-attachments";
import { SlashList, useSlashMenu } from "./slash-menu";
import { type WebSwitch, WebSwitchButton } from "./web-switch";

const roundButton =
  "flex size-9 shrink-0 cursor-pointer items-center justify-center rounded-full bg-primary text-primary-foreground transition-colors hover:bg-primary/85 disabled:cursor-not-allowed disabled:bg-foreground/15 disabled:text-muted-foreground";

interface ComposerProps {
  autoFocus?: boolean;
  /** Keeps a message until the running answer has ended. */
  onQueue?: ((text: string) => void) | undefined;
  /** Stops the running answer, after which what is queued is sent. */
  onSteer?: (() => void) | undefined;
  /** Null where the web cannot be searched. */
  web: WebSwitch | null;
}

/**
 * Where a message is written: Enter sends, Shift+Enter breaks the line, files can be dropped. While
 * an answer is written, Enter has the message sent next, and Ctrl+Enter now.
 */
export function Composer({ autoFocus = true, onQueue, onSteer, web }: ComposerProps) {
  const aui = useAui();
  const running = useAuiState((state) => state.thread.isRunning);
  // A message goes with all its files, or not at all.
  const failed = useAuiState(({ composer }) =>
    composer.attachments.some(({ status }) => status.type === "incomplete"),
  );
  const queueable = useAuiState(
    ({ composer }) => composer.text.trim() !== "" && composer.attachments.length === 0,
  );
  const queues = running && queueable && onQueue !== undefined;
  const enqueue = () => {
    onQueue?.(aui.composer.getState().text.trim());
    aui.composer.setText("");
  };
  const slash = useSlashMenu();
  const accepted = useAuiState((state) => state.composer.attachmentAccept);
  const takesFiles =
    useAuiState((state) => state.thread.capabilities.attachments) && accepted !== "";
  return (
    <ComposerPrimitive.Root className="relative w-full">
      <SlashList {...slash} />
      <ComposerPrimitive.AttachmentDropzone
        disabled={!takesFiles}
        className="flex w-full flex-col rounded-[28px] border border-border bg-composer p-2 shadow-composer transition-shadow focus-within:border-input data-[dragging=true]:border-brand data-[dragging=true]:ring-2 data-[dragging=true]:ring-brand/40"
      >
        <ComposerAttachments />
        <div className={cn("flex items-end gap-1", !takesFiles && !web && "ps-3")}>
          {takesFiles && (
            <Tip label={t`Add images or documents`}>
              <ComposerPrimitive.AddAttachment
                multiple
                aria-label={t`Add images or documents`}
                className={cn(iconButtonClass, "size-9 rounded-full text-foreground")}
              >
                <Plus aria-hidden className="size-5" />
              </ComposerPrimitive.AddAttachment>
            </Tip>
          )}
          {web && <WebSwitchButton {...web} />}
          <ComposerPrimitive.Input
            autoFocus={autoFocus}
            aria-label={t`Message`}
            placeholder={t`Ask anything`}
            dir="auto"
            maxRows={10}
            cancelOnEscape={false}
            aria-controls={slash.prompts.length > 0 ? slash.listId : undefined}
            aria-activedescendant={
              slash.prompts.length > 0 ? slash.optionId(slash.active) : undefined
            }
            onKeyDown={(event) => {
              if (slash.onKey(event)) return;
              const composing = event.nativeEvent.isComposing;
              if (!queues || event.key !== "Enter" || event.shiftKey || composing) return;
              event.preventDefault();
              enqueue();
              if (event.ctrlKey || event.metaKey) onSteer?.();
            }}
            unstable_insertNewlineOnTouchEnter
            className="scrollbar-quiet max-h-[40dvh] w-full resize-none self-center bg-transparent px-1 py-1.5 text-base leading-6 outline-none placeholder:text-muted-foreground"
          />
          <Dictation
            onText={(text) => {
              const written = aui.composer.getState().text;
              const space = written && !/\s$/.test(written) ? " " : "";
              aui.composer.setText(`${written}${space}${text}`);
            }}
          />
          {queues && (
            <button
              type="button"
              aria-label={t`Send next`}
              className={roundButton}
              onClick={enqueue}
            >
              <ListPlus aria-hidden className="size-4.5" />
            </button>
          )}
          {running ? (
            <ComposerPrimitive.Cancel aria-label={t`Stop`} className={roundButton}>
              <Square aria-hidden className="size-3.5 fill-current" />
            </ComposerPrimitive.Cancel>
          ) : (
            <ComposerPrimitive.Send aria-label={t`Send`} disabled={failed} className={roundButton}>
              <ArrowUp aria-hidden className="size-5" />
            </ComposerPrimitive.Send>
          )}
        </div>
      </ComposerPrimitive.AttachmentDropzone>
    </ComposerPrimitive.Root>
  );
}

interface ComposerFooterProps extends Pick<ComposerProps, "onQueue" | "onSteer" | "web"> {
  /** Above it. */
  children?: ReactNode;
  /** In its corner. */
  gauge: ReactNode;
}

/** The composer at the foot of a conversation. */
export function ComposerFooter({ children, onQueue, onSteer, web, gauge }: ComposerFooterProps) {
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-2 md:px-6">
      {children}
      <Composer onQueue={onQueue} onSteer={onSteer} web={web} />
      <div className="flex items-center gap-1 pt-2 pb-[env(safe-area-inset-bottom)]">
        <p className="flex-1 text-center text-muted-foreground text-xs">
          <Trans>Parley can make mistakes. Check important information.</Trans>
        </p>
        {gauge}
      </div>
    </div>
  );
}
