import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Paperclip, Play, Square } from "lucide-react";
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { formatList, formatNumber } from "@/lib/numbers";
import { LARGEST_FILES_BYTES, type NamedFile } from "@/python-frame/messages";
import { Button } from "@/ui/button";
import { IconButton } from "@/ui/icon-button";
import { Files, Output, statusOf } from "./python-output";
import { FRAME, usePython } from "./use-python";

/** A program of a model, run in the browser in a frame that reaches nothing; what it said and made. */
export function PythonView({ code, whole }: { code: string; whole: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const { state, run, stop } = usePython(frame);
  const [given, setGiven] = useState<NamedFile[]>([]);
  const begun = useRef(false);
  useEffect(() => {
    if (!whole || begun.current) return;
    begun.current = true;
    void run(code, []);
  }, [code, whole, run]);
  const busy = state.phase !== "idle";
  return (
    <div className="flex h-full flex-col">
      <div className="flex items-center gap-2 px-3 py-2">
        {busy ? (
          <Button variant="outline" size="sm" onClick={stop}>
            <Square aria-hidden className="size-3.5" />
            <Trans>Stop program</Trans>
          </Button>
        ) : (
          <Button
            variant="outline"
            size="sm"
            disabled={!whole}
            onClick={() => void run(code, given)}
          >
            <Play aria-hidden className="size-3.5" />
            <Trans>Run again</Trans>
          </Button>
        )}
        <AddFiles disabled={busy} given={given} onGiven={setGiven} />
        <span role="status" className="ms-auto text-muted-foreground text-xs">
          {whole ? statusOf(state) : ""}
        </span>
      </div>
      <div className="scrollbar-quiet min-h-0 flex-1 overflow-y-auto px-4 pb-4">
        <Output said={state.said} />
        <Files files={state.files} left={state.left} />
      </div>
      <iframe ref={frame} src={FRAME} title="Python" sandbox="allow-scripts" className="hidden" />
    </div>
  );
}

function AddFiles(props: {
  disabled: boolean;
  given: NamedFile[];
  onGiven: (given: NamedFile[]) => void;
}) {
  const { disabled, given, onGiven } = props;
  const field = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState(false);
  const megabytes = formatNumber(LARGEST_FILES_BYTES / 1e6);
  const add = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const chosen = [...(target.files ?? [])];
    target.value = "";
    const sizes = [...given.map(({ bytes }) => bytes.length), ...chosen.map(({ size }) => size)];
    const tooLarge = sizes.reduce((sum, size) => sum + size, 0) > LARGEST_FILES_BYTES;
    setRefused(tooLarge);
    if (tooLarge) return;
    const added = await Promise.all(
      chosen.map(async (file) => ({
        name: file.name,
        bytes: new Uint8Array(await file.arrayBuffer()),
      })),
    );
    const names = new Set(added.map(({ name }) => name));
    onGiven([...given.filter(({ name }) => !names.has(name)), ...added]);
  };
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        aria-label={t`Files for the program`}
        onChange={(event) => void add(event)}
      />
      <IconButton
        label={t`Give the program files`}
        disabled={disabled}
        onClick={() => field.current?.click()}
      >
        <Paperclip className="size-4" />
      </IconButton>
      <span className="min-w-0 truncate text-muted-foreground text-xs">
        {refused
          ? t`A program can be given ${megabytes} MB of files.`
          : formatList(given.map(({ name }) => name))}
      </span>
    </>
  );
}
