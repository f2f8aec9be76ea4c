/** What a program says and writes, as its person sees it: all of it untrusted. */
import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Download } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { cn } from "@/lib/cn";
import { saveFile } from "@/lib/download";
import { formatList } from "@/lib/numbers";
import type { NamedFile } from "@/python-frame/messages";
import { IconButton } from "@/ui/icon-button";
import type { PythonState, Said } from "./use-python";

const IMAGES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
};

const OUTCOMES = {
  ended: msg({ message: "Finished", context: "a program" }),
  raised: msg({ message: "Ended with an error", context: "a program" }),
  stopped: msg({ message: "Stopped", context: "a program" }),
  failed: msg`Python could not run`,
};

export function statusOf({ phase, outcome }: PythonState): string {
  if (phase === "loading") return t`Loading Python…`;
  if (phase === "running") return t({ message: "Running…", context: "a program" });
  return outcome ? i18n._(OUTCOMES[outcome]) : "";
}

const OUTPUT = "whitespace-pre-wrap break-words font-mono text-sm leading-6";

export function Output({ said }: { said: Said[] }) {
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

export function Files({ files, left }: { files: NamedFile[]; left: string[] }) {
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
