import { t } from "@lingui/core/macro";
import { useState } from "react";
import { CopyButton } from "@/chat/copy-button";
import { Section } from "@/pages/page-layout";
import { Segmented } from "@/ui/segmented";
import { type Body, codeOf, type Language } from "./body";

const LANGUAGES: { value: Language; label: string }[] = [
  { value: "python", label: "Python" },
  { value: "typescript", label: "TypeScript" },
  { value: "curl", label: "curl" },
];

/** The request as a program. */
export function CodeSection({ body }: { body: Body }) {
  return (
    <Section title={t`As code`}>
      <Code body={body} />
    </Section>
  );
}

/** A request in the language of one's choice. `secret`: the key that stands in it. */
export function Code({ body, secret }: { body: Body; secret?: string }) {
  const [language, setLanguage] = useState<Language>("python");
  const code = codeOf(language, body, window.location.origin, secret);
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Segmented
          label={t({ message: "Language", context: "of a program" })}
          value={language}
          onChange={setLanguage}
          options={LANGUAGES}
        />
        <CopyButton text={code} label={t`Copy code`} />
      </div>
      <CodeBox label={t({ message: "Code", context: "of a program" })} code={code} />
    </>
  );
}

/** Text as it is; wide and long ones are scrolled. */
export function CodeBox({ label, code }: { label: string; code: string }) {
  return (
    <section
      aria-label={label}
      className="max-h-96 shrink-0 overflow-auto rounded-2xl border border-border p-4"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
      tabIndex={0}
    >
      <pre dir="ltr" className="font-mono text-xs">
        {code}
      </pre>
    </section>
  );
}
