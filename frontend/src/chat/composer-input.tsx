import {
  type ClipboardEvent,
  type ComponentProps,
  type KeyboardEvent,
  useCallback,
  useEffect,
  useRef,
} from "react";
import { GrowingTextArea } from "@/ui/growing-text-area";
import { useComposing, useComposingState } from "./composing";

/** Where Enter breaks the line: there is no Shift to hold, and a button to send. */
const TOUCH = "(pointer: coarse) and (not (any-pointer: fine))";

interface ComposerInputProps extends Omit<ComponentProps<typeof GrowingTextArea>, "value" | "ref"> {
  autoFocus: boolean;
  /** Files may be attached: those that are pasted are. */
  takesFiles: boolean;
}

/** The text of the message: as high as it is long, sent by Enter. */
export function ComposerInput({ autoFocus, takesFiles, onKeyDown, ...props }: ComposerInputProps) {
  const composing = useComposing();
  const text = useComposingState((state) => state.text);
  const running = useComposingState((state) => state.running);
  const input = useRef<HTMLTextAreaElement>(null);

  const focus = useCallback(() => {
    const { current } = input;
    if (!current || !autoFocus) return;
    current.focus({ preventScroll: true });
    current.setSelectionRange(current.value.length, current.value.length);
  }, [autoFocus]);
  useEffect(focus, [focus]);
  // Whoever has sent one by its button writes the next.
  useEffect(() => {
    if (running) focus();
  }, [running, focus]);

  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    onKeyDown?.(event);
    if (event.defaultPrevented || event.key !== "Enter" || event.shiftKey) return;
    if (event.nativeEvent.isComposing || running || window.matchMedia(TOUCH).matches) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (!takesFiles || files.length === 0) return;
    event.preventDefault();
    for (const file of files) void composing.add(file);
  };
  return (
    <GrowingTextArea
      name="input"
      {...props}
      ref={input}
      value={text}
      onChange={(event) => composing.setText(event.target.value)}
      onKeyDown={onKey}
      onPaste={onPaste}
    />
  );
}
