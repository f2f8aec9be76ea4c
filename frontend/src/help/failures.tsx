import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { failuresOfTab } from "@/api/failures";
import { CopyButton } from "@/chat/copy-button";
import { formatDayAndTime } from "@/lib/time";
import { Section } from "@/pages/page-layout";

/** What this tab was refused, with what leads an administrator to its cause. */
export function FailuresOfTab() {
  const [failures] = useState(failuresOfTab);
  return (
    <Section title={t`What failed in this tab`}>
      {failures.length === 0 ? (
        <p className="text-muted-foreground text-sm">
          <Trans>Nothing, since it was opened or reloaded.</Trans>
        </p>
      ) : (
        <>
          <p className="max-w-2xl text-muted-foreground text-sm">
            <Trans>Give the id to whoever runs Parley: it leads to the cause in the log.</Trans>
          </p>
          <ul className="flex flex-col gap-2 text-sm" aria-label={t`What failed in this tab`}>
            {failures.map(({ at, message, requestId }, index) => (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: they were read once
                key={index}
                className="flex items-center justify-between gap-3 rounded-xl border border-border py-1.5 ps-4 pe-2"
              >
                <span className="min-w-0">
                  <span className="text-muted-foreground">{formatDayAndTime(at)}</span>{" "}
                  <span dir="auto">{message}</span>
                  {requestId && (
                    <code dir="ltr" className="block break-all text-muted-foreground text-xs">
                      {requestId}
                    </code>
                  )}
                </span>
                {requestId && <CopyButton text={requestId} label={t`Copy the request's id`} />}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
