import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ArrowUp, ListPlus, Plus, Square } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { cn } from "@/lib/cn";
import { iconButtonClass } from "@/ui/icon-button";
import { Tip } from "@/ui/tooltip";
import { Dictation } from "@/voice/dictation";
import { ComposerAttachments } from "./composer-attachments";
import { ComposerInput } from "./composer-input";
import { canSend, useComposing, useComposingState } from "./composing";
import { DropZone } from "./drop-zone";
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
  const composing = useComposing();
  const running = useComposingState((state) => state.running);
  const sendable = useComposingState(canSend);
  const queueable = useComposingState(
    ({ text, files }) => text.trim() !== "" && files.length === 0,
  );
  const takesFiles = useComposingState(({ accept }) => accept !== "");
  const queues = running && queueable && onQueue !== undefined;
  const enqueue = () => {
    onQueue?.(composing.text.trim());
    composing.setText("");
  };
  const slash = useSlashMenu();
  return (
    <form
      className="relative w-full"
      onSubmit={(event) => {
        event.preventDefault();
        void composing.send();
      }}
    >
      <SlashList {...slash} />
      <DropZone
        disabled={!takesFiles}
        className="flex w-full flex-col rounded-[28px] border border-border bg-composer p-2 shadow-composer transition-shadow focus-within:border-input data-[dragging=true]:border-brand data-[dragging=true]:ring-2 data-[dragging=true]:ring-brand/40"
      >
        <ComposerAttachments />
        <div className={cn("flex items-end gap-1", !takesFiles && !web && "ps-3")}>
          {takesFiles && <AddFiles />}
          {web && <WebSwitchButton {...web} />}
          <ComposerInput
            autoFocus={autoFocus}
            takesFiles={takesFiles}
            aria-label={t`Message`}
            placeholder={t`Ask anything`}
            dir="auto"
            maxRows={10}
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
            className="scrollbar-quiet max-h-[min(40dvh,15.75rem)] w-full resize-none self-center bg-transparent px-1 py-1.5 text-base leading-6 outline-none placeholder:text-muted-foreground"
          />
          <Dictation
            onText={(text) => {
              const written = composing.text;
              const space = written && !/\s$/.test(written) ? " " : "";
              composing.setText(`${written}${space}${text}`);
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
            <button
              type="button"
              aria-label={t`Stop`}
              className={roundButton}
              onClick={() => void composing.onStop()}
            >
              <Square aria-hidden className="size-3.5 fill-current" />
            </button>
          ) : (
            <button type="submit" aria-label={t`Send`} disabled={!sendable} className={roundButton}>
              <ArrowUp aria-hidden className="size-5" />
            </button>
          )}
        </div>
      </DropZone>
    </form>
  );
}

/** Opens the browser's dialog of files. */
function AddFiles() {
  const composing = useComposing();
  const accept = useComposingState((state) => state.accept);
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={accept}
        onChange={({ target }) => {
          for (const file of target.files ?? []) void composing.add(file);
          // The same file can be chosen again.
          target.value = "";
        }}
      />
      <Tip label={t`Add images or documents`}>
        <button
          type="button"
          aria-label={t`Add images or documents`}
          onClick={() => input.current?.click()}
          className={cn(iconButtonClass, "size-9 rounded-full text-foreground")}
        >
          <Plus aria-hidden className="size-5" />
        </button>
      </Tip>
    </>
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
