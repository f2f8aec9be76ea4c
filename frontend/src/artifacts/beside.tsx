import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { useLayout } from "@/app/layout-state";
import type { ViewMessage } from "@/chat/view";
import { useMedia } from "@/lib/media";
import { useOpened } from "./opened";

const ArtifactPanel = lazy(() => import("./artifact-panel"));

/** The chat, and beside it the artifact that is open; what is covered takes no focus. */
export function WithArtifact({
  messages,
  children,
}: {
  messages: ViewMessage[];
  children: ReactNode;
}) {
  const opened = useOpened((state) => state.opened);
  const narrow = useMedia("(max-width: 1023px)");
  const [full, setFull] = useState(false);
  const covers = opened !== null && (full || narrow);
  useEffect(() => {
    useLayout.setState({ covered: covers });
    return () => useLayout.setState({ covered: false });
  }, [covers]);
  useEffect(() => {
    if (!opened) setFull(false);
  }, [opened]);
  // With the chat goes what was opened from it.
  useEffect(() => () => useOpened.setState({ opened: null, opener: null }), []);
  return (
    <div className="flex min-h-0 flex-1">
      <div className="flex min-w-0 flex-1 flex-col" inert={covers}>
        {children}
      </div>
      {opened && (
        <Suspense>
          <ArtifactPanel
            opened={opened}
            messages={messages}
            covers={covers}
            full={full}
            setFull={setFull}
          />
        </Suspense>
      )}
    </div>
  );
}
