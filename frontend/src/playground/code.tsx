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
  const [language, setLanguage] = useState<Language>("python");
  const code = codeOf(language, body, window.location.origin);
  return (
    <Section title="As code">
      <div className="flex items-center justify-between gap-4">
        <Segmented label="Language" value={language} onChange={setLanguage} options={LANGUAGES} />
        <CopyButton text={code} label="Copy code" />
      </div>
      <section
        aria-label="Code"
        className="overflow-x-auto rounded-2xl border border-border p-4"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
      >
        <pre className="font-mono text-xs">{code}</pre>
      </section>
    </Section>
  );
}
