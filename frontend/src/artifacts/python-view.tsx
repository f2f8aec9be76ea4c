import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Download, Paperclip, Play, Square } from "lucide-react";
import { type ChangeEvent, useEffect, useMemo, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import { saveFile } from "@/lib/download";
import { formatList, formatNumber } from "@/lib/numbers";
import { LARGEST_FILES_BYTES, type NamedFile } from "@/python-frame/messages";
import { Button } from "@/ui/button";
import { IconButton } from "@/ui/icon-button";
import { type PythonState, type Said, usePython } from "./use-python";

const FRAME = "/frames/python";
const IMAGES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
};

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

const OUTCOMES = {
  ended: msg({ message: "Finished", context: "a program" }),
  raised: msg({ message: "Ended with an error", context: "a program" }),
  stopped: msg({ message: "Stopped", context: "a program" }),
  failed: msg`Python could not run`,
};

function statusOf({ phase, outcome }: PythonState): string {
  if (phase === "loading") return t`Loading Python…`;
  if (phase === "running") return t({ message: "Running…", context: "a program" });
  return outcome ? i18n._(OUTCOMES[outcome]) : "";
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

const OUTPUT = "whitespace-pre-wrap break-words font-mono text-sm leading-6";

function Output({ said }: { said: Said[] }) {
  return (
    <section aria-label={t`Output of the program`}>
      <pre dir="ltr" className={OUTPUT}>
        {said.map(({ stream, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was said stays where it is
          <span key={index} className={cn(stream === "error" && "text-destructive")}>
            {text}
          </span>
        ))}
      </pre>
    </section>
  );
}

function Files({ files, left }: { files: NamedFile[]; left: string[] }) {
  const names = formatList(left);
  if (files.length + left.length === 0) return null;
  return (
    <section aria-label={t`Files that the program wrote`} className="mt-4 flex flex-col gap-3">
      {files.map((file) => (
        <WrittenFile key={file.name} file={file} />
      ))}
      {left.length > 0 && (
        <p className="text-muted-foreground text-sm">{t`Too large to take along: ${names}`}</p>
      )}
    </section>
  );
}

function WrittenFile({ file }: { file: NamedFile }) {
  const { name, bytes } = file;
  const image = IMAGES[name.split(".").at(-1)?.toLowerCase() ?? ""];
  const blob = useMemo(
    () => new Blob([bytes], { type: image ?? "application/octet-stream" }),
    [bytes, image],
  );
  return (
    <div className="overflow-hidden rounded-xl border border-border">
      {image && <Image name={name} blob={blob} />}
      <div className="flex items-center justify-between gap-2 ps-3 pe-1">
        <span className="min-w-0 truncate text-sm">{name}</span>
        <IconButton label={t`Download ${name}`} onClick={() => saveFile(name, blob)}>
          <Download className="size-4" />
        </IconButton>
      </div>
    </div>
  );
}

/** As an image, what is within an SVG runs nothing and loads nothing. */
function Image({ name, blob }: { name: string; blob: Blob }) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return (
    address && <img src={address} alt={name} className="max-h-96 w-full bg-white object-contain" />
  );
}
