import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Check, Mic, X } from "lucide-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { postTranscription } from "@/api/audio";
import { errorMessage } from "@/api/errors";
import { cn } from "@/lib/cn";
import { formatCountdown } from "@/lib/time";
import { IconButton } from "@/ui/icon-button";
import { Spinner } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { MAX_SECONDS, microphoneProblem, Recorder } from "./recorder";
import { useVoiceModel } from "./voice-models";

const BARS = 24;

interface DictationProps {
  /** What was said. */
  onText: (text: string) => void;
}

type State = "idle" | "asking" | "recording" | "transcribing";

/** The microphone of the composer: a recording with its level, then its text; or nothing. */
export function Dictation({ onText }: DictationProps) {
  const model = useVoiceModel("transcriptions");
  return model ? <Microphone model={model} onText={onText} /> : null;
}

function Microphone({ model, onText }: DictationProps & { model: string }) {
  const [state, setState] = useState<State>("idle");
  const [levels, setLevels] = useState<number[]>([]);
  const [seconds, setSeconds] = useState(0);
  const recorder = useRef<Recorder | null>(null);
  const abort = useRef<AbortController | null>(null);
  const use = useRef<HTMLButtonElement>(null);

  useEffect(
    () => () => {
      recorder.current?.cancel();
      abort.current?.abort();
    },
    [],
  );
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    cancel();
  });
  const isOpen = state === "recording" || state === "transcribing";
  useEffect(() => {
    if (!isOpen) return;
    // Wherever the focus is, and before what else Escape would end on the page.
    document.addEventListener("keydown", onKeyDown, true);
    return () => document.removeEventListener("keydown", onKeyDown, true);
  }, [isOpen]);
  useEffect(() => {
    if (state === "recording") use.current?.focus();
  }, [state]);

  const start = async () => {
    setState("asking");
    setLevels([]);
    setSeconds(0);
    try {
      recorder.current = await Recorder.start((level, at) => {
        setLevels((known) => [...known.slice(1 - BARS), level]);
        setSeconds(Math.floor(at));
        if (at >= MAX_SECONDS) void finish();
      });
      setState("recording");
    } catch (error) {
      setState("idle");
      toast(microphoneProblem(error));
    }
  };
  const cancel = () => {
    recorder.current?.cancel();
    recorder.current = null;
    abort.current?.abort();
    setState("idle");
  };
  const finish = async () => {
    const recording = recorder.current?.finish();
    recorder.current = null;
    if (!recording) return;
    setState("transcribing");
    const stopped = new AbortController();
    abort.current = stopped;
    try {
      const text = await postTranscription(recording, model, stopped.signal);
      if (text) onText(text);
      else toast(t`Nothing was heard.`);
    } catch (error) {
      if (!stopped.signal.aborted) tellProblem(error);
    } finally {
      if (abort.current === stopped) setState("idle");
    }
  };
  if (state === "idle" || state === "asking") {
    return (
      <IconButton
        label={t`Dictate`}
        disabled={state === "asking"}
        onClick={() => void start()}
        className="size-9 rounded-full text-foreground"
      >
        <Mic aria-hidden className="size-5" />
      </IconButton>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's
    <div role="group" aria-label={t`Dictation`} className="flex items-center gap-1">
      <IconButton label={t`Cancel dictation`} onClick={cancel} className="size-9 rounded-full">
        <X aria-hidden className="size-5" />
      </IconButton>
      {state === "recording" ? (
        <>
          <LevelMeter levels={levels} />
          <span className="w-10 text-end text-muted-foreground text-sm tabular-nums">
            {formatCountdown(seconds)}
          </span>
          <IconButton
            label={t`Use dictation`}
            ref={use}
            onClick={() => void finish()}
            className="size-9 rounded-full text-foreground"
          >
            <Check aria-hidden className="size-5" />
          </IconButton>
        </>
      ) : (
        <span role="status" className="flex h-9 items-center gap-2 px-2 text-sm">
          <Spinner />
          <Trans>Transcribing</Trans>
        </span>
      )}
    </div>
  );
}

function tellProblem(error: unknown): void {
  const problem = errorMessage(error);
  toast(t`It could not be understood: ${problem}`);
}

/** How loud it was, the newest at the right. */
function LevelMeter({ levels }: { levels: number[] }) {
  const shown = [...Array<number>(BARS).fill(0), ...levels].slice(-BARS);
  const now = levels.at(-1) ?? 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: its bars are the history, which a meter has not
    <div
      role="meter"
      aria-label={t`Microphone level`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(now * 100)}
      className="flex h-9 items-center gap-0.5"
    >
      {shown.map((level, place) => (
        <svg
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
          key={place}
          aria-hidden
          viewBox="0 0 2 24"
          className={cn("h-6 w-0.5", level > 0.05 ? "text-brand" : "text-muted-foreground/50")}
        >
          <rect width="2" height={2 + 22 * level} y={11 - 11 * level} rx="1" fill="currentColor" />
        </svg>
      ))}
    </div>
  );
}
