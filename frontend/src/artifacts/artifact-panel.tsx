/** The artifact that is open, beside the chat; over it on a narrow screen and in full screen. */
import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import {
  Check,
  ChevronLeft,
  ChevronRight,
  Copy,
  Download,
  Maximize2,
  Minimize2,
  X,
} from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { ViewMessage } from "@/chat/view";
import { useCopy } from "@/lib/clipboard";
import { cn } from "@/lib/cn";
import { saveFile } from "@/lib/download";
import { formatNumber } from "@/lib/numbers";
import { Source } from "@/markdown/source";
import { IconButton } from "@/ui/icon-button";
import { Segmented } from "@/ui/segmented";
import { ArtifactView } from "./artifact-view";
import type { Kind, Version } from "./find";
import { closeArtifact, type Place, showVersion } from "./opened";
import { useVersions } from "./use-versions";

const NAMES: Record<Kind, MessageDescriptor> = {
  html: msg`HTML page`,
  svg: msg`Drawing`,
  mermaid: msg`Diagram`,
  markdown: msg`Document`,
  python: msg`Python program`,
};
const FILES: Record<Kind, { ending: string; type: string }> = {
  html: { ending: "html", type: "text/html" },
  svg: { ending: "svg", type: "image/svg+xml" },
  mermaid: { ending: "mmd", type: "text/plain" },
  markdown: { ending: "md", type: "text/markdown" },
  python: { ending: "py", type: "text/x-python" },
};

interface ArtifactPanelProps {
  opened: Place;
  messages: ViewMessage[];
  /** It covers the chat. */
  covers: boolean;
  full: boolean;
  setFull: (full: boolean) => void;
}

export default function ArtifactPanel(props: ArtifactPanelProps) {
  const { opened, messages, covers, full, setFull } = props;
  const { versions, position } = useVersions(opened, messages);
  const [view, setView] = useState<"preview" | "code">("preview");
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  const shown = versions[position];
  const gone = shown === undefined;
  useEffect(() => {
    if (gone) closeArtifact(); // its branch, or the chat, is no longer on the page
  }, [gone]);
  if (!shown) return null;
  const title = shown.title ?? i18n._(NAMES[shown.kind]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (full) setFull(false);
    else closeArtifact();
  };
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label={t`Artifact: ${title}`}
      onKeyDown={onKeyDown}
      className={cn(
        "flex min-w-0 flex-col bg-background outline-none",
        covers ? "fixed inset-0 z-30" : "w-1/2 max-w-3xl shrink-0 border-border border-s",
      )}
    >
      <div className="flex min-h-14 items-center gap-2 ps-4 pe-2">
        <h2 dir="auto" className="min-w-0 flex-1 truncate font-medium text-sm">
          {title}
        </h2>
        {versions.length > 1 && <Stepper versions={versions} position={position} />}
        <IconButton
          label={full ? t`Leave full screen` : t`Full screen`}
          className={cn(covers && !full && "hidden")}
          onClick={() => setFull(!full)}
        >
          {full ? <Minimize2 className="size-4" /> : <Maximize2 className="size-4" />}
        </IconButton>
        <IconButton label={t`Close artifact`} onClick={closeArtifact}>
          <X className="size-4.5" />
        </IconButton>
      </div>
      <div className="flex items-center justify-between gap-2 border-border border-b ps-3 pe-2 pb-2">
        <Segmented
          label={t({ message: "View", context: "noun" })}
          value={view}
          onChange={setView}
          options={[
            { value: "preview", label: outputName(shown.kind) },
            { value: "code", label: t({ message: "Code", context: "of a program" }) },
          ]}
        />
        <div className="flex items-center">
          {!shown.whole && (
            <span role="status" className="pe-2 text-muted-foreground text-xs">
              <Trans>Being written</Trans>
            </span>
          )}
          <TakeAlong shown={shown} title={title} />
        </div>
      </div>
      {/* Hidden and not removed: what runs in it goes on. */}
      <div className={cn("min-h-0 flex-1", view === "code" && "hidden")}>
        <ArtifactView key={`${shown.messageId} ${shown.index}`} block={shown} title={title} />
      </div>
      {view === "code" && (
        <div className="scrollbar-quiet min-h-0 flex-1 overflow-y-auto px-3">
          <Source code={shown.code} language={shown.kind} incomplete={!shown.whole} />
        </div>
      )}
    </aside>
  );
}

const outputName = (kind: Kind) =>
  kind === "python" ? t({ message: "Output", context: "of a program" }) : t`Preview`;

function Stepper({ versions, position }: { versions: Version[]; position: number }) {
  const number = formatNumber(position + 1);
  const count = formatNumber(versions.length);
  const step = (to: number) => {
    const version = versions[to];
    if (version) showVersion({ ...version, language: version.kind });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fields, but buttons that belong together
    <div role="group" aria-label={t`Versions`} className="flex shrink-0 items-center">
      <IconButton
        label={t`Earlier version`}
        disabled={position === 0}
        onClick={() => step(position - 1)}
      >
        <ChevronLeft className="size-4 rtl:rotate-180" />
      </IconButton>
      <span role="status" className="whitespace-nowrap text-muted-foreground text-xs tabular-nums">
        <Trans>
          <span className="sr-only">Version </span>
          {number} of {count}
        </Trans>
      </span>
      <IconButton
        label={t`Later version`}
        disabled={position === versions.length - 1}
        onClick={() => step(position + 1)}
      >
        <ChevronRight className="size-4 rtl:rotate-180" />
      </IconButton>
    </div>
  );
}

function TakeAlong({ shown, title }: { shown: Version; title: string }) {
  const [copied, copy] = useCopy();
  const save = () => {
    const { ending, type } = FILES[shown.kind];
    const bare = title.replace(new RegExp(`\\.${ending}$`), "");
    const name = bare.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || shown.kind;
    saveFile(`${name}.${ending}`, new Blob([shown.code], { type }));
  };
  return (
    <>
      <IconButton label={copied ? t`Copied` : t`Copy code`} onClick={() => void copy(shown.code)}>
        {copied ? <Check className="size-4" /> : <Copy className="size-4" />}
      </IconButton>
      <IconButton label={t`Download`} disabled={!shown.whole} onClick={save}>
        <Download className="size-4" />
      </IconButton>
    </>
  );
}
