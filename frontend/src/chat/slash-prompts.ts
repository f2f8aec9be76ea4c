/** Prompts that "/" at the beginning of a message offers: of the assistants that its person sees, and
 * the ways to start that every new chat shows. */
import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { listAssistants } from "@/api/assistants";
import { assistantsKey } from "./cache";

export interface SlashPrompt {
  /** Of the list; short. */
  label: string;
  /** Whose it is; "" of the page's own. */
  from: string;
  prompt: string;
}

const MAX_SHOWN = 8;

export const suggestions: { label: MessageDescriptor; prompt: MessageDescriptor }[] = [
  {
    label: msg`Explain an idea`,
    prompt: msg`Explain in simple words how a rainbow forms.`,
  },
  {
    label: msg`Draft a text`,
    prompt: msg`Draft a short, friendly e-mail that moves a meeting to Friday.`,
  },
  {
    label: msg`Write code`,
    prompt: msg`Write a Python function that checks whether a word is a palindrome.`,
  },
  {
    label: msg`Compare things`,
    prompt: msg`Compare tea and coffee in a table with three rows.`,
  },
];

/** What is looked for; null where `text` is a message, and no request for prompts. */
export function slashQuery(text: string): string | null {
  return text.startsWith("/") && !text.includes("\n") && text.length < 60 ? text.slice(1) : null;
}

/** Those with all words of `query` in their name, owner or text. */
export function matching(prompts: SlashPrompt[], query: string): SlashPrompt[] {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return prompts
    .filter(({ label, from, prompt }) => {
      const said = `${label} ${from} ${prompt}`.toLocaleLowerCase();
      return words.every((word) => said.includes(word));
    })
    .slice(0, MAX_SHOWN);
}

/** Assistants are asked for once "/" was typed. */
export function useSlashPrompts(query: string | null): SlashPrompt[] {
  const { data } = useQuery({
    queryKey: [...assistantsKey, "menu"],
    queryFn: () => listAssistants(null),
    enabled: query !== null,
  });
  if (query === null) return [];
  const ofAssistants = (data?.data ?? []).flatMap(({ name, starters }) =>
    starters.map((prompt) => ({ label: prompt, from: name, prompt })),
  );
  const own = suggestions.map(({ label, prompt }) => ({
    label: t(label),
    from: "",
    prompt: t(prompt),
  }));
  return matching([...ofAssistants, ...own], query);
}
