/** The assistant of a new chat, and the choice of one. */
import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Bot } from "lucide-react";
import { Link, useNavigate } from "react-router";
import { getAssistant, listAssistants } from "@/api/assistants";
import { MenuItem, MenuSeparator } from "@/ui/menu";
import { assistantKey, assistantsKey } from "./cache";

/** So many are named in a menu; all of them are on their page. */
const IN_MENU = 6;

export const newChatWith = (assistantId: string) => `/a/${assistantId}`;

/** What a chat with the assistant `id` begins with. */
export const useAssistant = (id: string | undefined) =>
  useQuery({
    queryKey: assistantKey(id ?? ""),
    queryFn: () => getAssistant(id ?? ""),
    enabled: id !== undefined,
    retry: false,
  });

/** In the menu of the models: a new chat with an assistant. */
export function AssistantItems() {
  const navigate = useNavigate();
  const list = useQuery({
    queryKey: [...assistantsKey, "menu"],
    queryFn: () => listAssistants(null),
  });
  const assistants = list.data?.data ?? [];
  return (
    <>
      <MenuSeparator />
      {assistants.slice(0, IN_MENU).map(({ id, name }) => (
        <MenuItem
          key={id}
          icon={<Bot aria-hidden />}
          onSelect={() => void navigate(newChatWith(id))}
        >
          <span className="truncate" dir="auto">
            {name}
          </span>
        </MenuItem>
      ))}
      <MenuItem onSelect={() => void navigate("/assistants")}>
        {assistants.length > 0 ? t`All assistants` : t`Assistants`}
      </MenuItem>
    </>
  );
}

/** Whose chat this is; leads to a new one with it. */
export function AssistantBadge({ id, name }: { id: string; name: string }) {
  return (
    <Link
      to={newChatWith(id)}
      aria-label={t`Assistant: ${name}`}
      className="flex h-9 shrink-0 items-center gap-1.5 rounded-lg px-2 text-muted-foreground text-sm hover:bg-hover"
    >
      <Bot aria-hidden className="size-4 shrink-0" />
      <span className="max-w-40 truncate max-sm:max-w-16" dir="auto">
        {name}
      </span>
    </Link>
  );
}
