/** Where to look when something fails: for people, for managers, and for whoever runs Parley. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import { useLocation } from "react-router";
import { useMe } from "@/app/session";
import { PageLayout, Section } from "@/pages/page-layout";
import { Stations } from "./answer-times";
import { FailuresOfTab } from "./failures";
import { LINES, type Line } from "./lines";
import { ForManagers, ForOperators } from "./managers";
import { StateNow } from "./state-now";

export function HelpPage() {
  const { role } = useMe();
  const manages = role === "owner" || role === "admin";
  return (
    <PageLayout title={t`Help`} description={t`Where to look when something fails.`}>
      <StateNow />
      <FailuresOfTab />
      <Section title={t`What an error means`}>
        <ul className="flex flex-col gap-2">
          {LINES.map((line) => (
            <li key={line.topic}>
              <Explained line={line} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title={t`An answer that is slow, or not what you expected`}>
        <p className="max-w-2xl text-muted-foreground text-sm">
          <Trans>
            “What was sent”, in the menu under an answer, shows what the model really read, what the
            answer cost, and where its time went:
          </Trans>
        </p>
        <Stations />
      </Section>
      <ForManagers role={role} />
      {manages && <ForOperators />}
    </PageLayout>
  );
}

/** Open where the page was asked for this line. */
function Explained({ line: { topic, title, means, helps } }: { line: Line }) {
  const { hash } = useLocation();
  const asked = hash === `#${topic}`;
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!asked || !details.current) return;
    details.current.open = true;
    details.current.scrollIntoView({ block: "center" });
  }, [asked]);
  return (
    <details
      ref={details}
      id={topic}
      className="group rounded-xl border border-border px-4 py-1 text-sm"
    >
      <summary className="flex min-h-10 cursor-pointer list-none items-center gap-2 rounded font-medium">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 transition-transform group-open:rotate-90 rtl:-scale-x-100 rtl:group-open:-rotate-90"
        />
        {t(title)}
      </summary>
      <div className="flex flex-col gap-2 ps-6 pb-3">
        <p className="text-muted-foreground">{t(means)}</p>
        <p>{t(helps)}</p>
      </div>
    </details>
  );
}
