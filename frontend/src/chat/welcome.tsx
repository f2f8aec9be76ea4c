import { t } from "@lingui/core/macro";
import { Bot, Code, Lightbulb, PenLine, Table } from "lucide-react";
import type { Assistant } from "@/api/types";
import { Composer } from "./composer";
import { useComposing } from "./composing";
import { suggestions } from "./slash-prompts";
import type { WebSwitch } from "./web-switch";

const icons = [Lightbulb, PenLine, Code, Table];

interface WelcomeProps {
  /** Of the person. */
  name: string;
  assistant: Assistant | undefined;
  web: WebSwitch | null;
}

/** A new chat: a greeting, the composer (in the middle, at the foot of a phone), ways to start. */
export function Welcome({ name, assistant, web }: WelcomeProps) {
  const composing = useComposing();
  const take = (prompt: string) => {
    composing.setText(prompt);
    document.querySelector<HTMLTextAreaElement>("textarea[name=input]")?.focus();
  };
  return (
    <div className="mx-auto flex min-h-0 w-full max-w-3xl flex-1 flex-col gap-5 overflow-y-auto px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] md:justify-center md:gap-7 md:px-6 md:pb-[14dvh]">
      <div className="flex flex-1 items-center justify-center md:flex-none">
        {assistant ? (
          <div className="flex flex-col items-center gap-2 text-center" dir="auto">
            <p className="text-balance font-medium text-[1.7rem] leading-tight tracking-tight">
              {assistant.name}
            </p>
            {assistant.description && (
              <p className="max-w-lg text-balance text-muted-foreground">{assistant.description}</p>
            )}
          </div>
        ) : (
          <p className="text-balance text-center font-medium text-[1.7rem] leading-tight tracking-tight">
            {name ? t`What's on your mind, ${name}?` : t`What's on your mind?`}
          </p>
        )}
      </div>
      <ul className="flex flex-wrap justify-center gap-2 md:order-last">
        {waysToStart(assistant).map(({ icon: Icon, label, prompt }) => (
          <li key={label} className="max-w-full">
            <button
              type="button"
              onClick={() => take(prompt)}
              className="flex h-10 max-w-full cursor-pointer items-center gap-2 rounded-full border border-border px-4 text-muted-foreground text-sm hover:bg-hover hover:text-foreground"
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              <span className="truncate" dir="auto">
                {label}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Composer web={web} />
    </div>
  );
}

const waysToStart = (assistant: Assistant | undefined) =>
  assistant
    ? assistant.starters.map((prompt) => ({ icon: Bot, label: prompt, prompt }))
    : suggestions.map(({ label, prompt }, index) => ({
        icon: icons[index] ?? Bot,
        label: t(label),
        prompt: t(prompt),
      }));
