import { t } from "@lingui/core/macro";
import { useEffect, useRef, useState } from "react";
import type { LiveAnswer } from "./view";

/** Tells a screen reader that an answer begins and is there; not each word of it. */
export function Announcer({ live }: { live: LiveAnswer | null }) {
  const phase = live?.phase ?? null;
  const previous = useRef(phase);
  const [text, setText] = useState("");
  useEffect(() => {
    if (previous.current === phase) return;
    if (phase === "sending") setText(t`Message sent`);
    else if (phase === "reconnecting") setText(t`Connection lost, reconnecting`);
    else if (phase === null && previous.current !== "failed") setText(t`The answer is complete`);
    previous.current = phase;
  }, [phase]);
  return (
    <div aria-live="polite" className="sr-only">
      {text}
    </div>
  );
}
