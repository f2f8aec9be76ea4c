import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useRef, useState } from "react";
import { asFrameMessage, type PageMessage } from "@/artifact-frame/messages";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

const FRAME = "/frames/artifact";
/** Between two states of what is being written. */
const PAUSE_MS = 700;
const ASK_MS = 5_000;
const UNANSWERED = 3;

interface ArtifactFrameProps {
  title: string;
  html: string;
  /** Scripts run once it is. */
  whole: boolean;
}

/** A document of a model in a frame that reaches nothing; one that hangs is taken away. */
export function ArtifactFrame(props: ArtifactFrameProps) {
  const [stuck, setStuck] = useState(false);
  if (!stuck) return <Running {...props} onStuck={() => setStuck(true)} />;
  return (
    <div className="p-4">
      <Notice
        tone="error"
        title={t`This artifact was stopped`}
        actions={
          <Button variant="outline" size="sm" onClick={() => setStuck(false)}>
            <Trans>Start again</Trans>
          </Button>
        }
      >
        {plural((ASK_MS * UNANSWERED) / 1000, {
          one: "Its script did not let anything else happen for # second.",
          other: "Its script did not let anything else happen for # seconds.",
        })}
      </Notice>
    </div>
  );
}

function Running({ title, html, whole, onStuck }: ArtifactFrameProps & { onStuck: () => void }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  const sentAt = useRef(0);
  const unanswered = useRef(0);

  useEffect(() => {
    const onMessage = (event: MessageEvent) => {
      if (!frame.current || event.source !== frame.current.contentWindow) return;
      unanswered.current = 0;
      if (asFrameMessage(event.data)?.type === "ready") setReady(true);
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, []);

  useEffect(() => {
    if (!ready) return;
    const pause = whole ? 0 : sentAt.current + PAUSE_MS - Date.now();
    const timer = setTimeout(() => {
      sentAt.current = Date.now();
      tell(frame.current, { type: "show", title, html, whole });
    }, pause);
    return () => clearTimeout(timer);
  }, [ready, title, html, whole]);

  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden || !ready) return;
      if (unanswered.current >= UNANSWERED) return onStuck();
      unanswered.current += 1;
      tell(frame.current, { type: "ask" });
    }, ASK_MS);
    return () => clearInterval(timer);
  }, [ready, onStuck]);

  return (
    <iframe
      ref={frame}
      src={FRAME}
      title={title}
      sandbox="allow-scripts"
      className="size-full border-0 bg-white"
    />
  );
}

// An opaque origin has no name to send to; the window is the one that the page has made.
const tell = (frame: HTMLIFrameElement | null, message: PageMessage) =>
  frame?.contentWindow?.postMessage(message, "*");
