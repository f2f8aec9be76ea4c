import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { listAssistantTools } from "@/api/assistants";
import type { AssistantTool } from "@/api/types";
import { assistantsKey } from "@/chat/cache";
import { serverTitle, toolTitle } from "@/chat/own-tools";
import { Checkbox } from "@/ui/checkbox";
import { Select } from "@/ui/select";

interface AssistantToolsProps {
  /** Null: the person's own choice holds. */
  value: AssistantTool[] | null;
  onChange: (value: AssistantTool[] | null) => void;
}

/** Which of the organization's tools an assistant's chats may call; nothing where there are none. */
export function AssistantTools({ value, onChange }: AssistantToolsProps) {
  const usable = useQuery({ queryKey: [...assistantsKey, "tools"], queryFn: listAssistantTools });
  const tools = usable.data?.data ?? [];
  if (tools.length === 0 && !value?.length) return null;
  const isNamed = (tool: AssistantTool) =>
    value?.some((one) => one.server_id === tool.server_id && one.name === tool.name) ?? false;
  const toggle = (tool: AssistantTool, on: boolean) =>
    onChange(on ? [...(value ?? []), tool] : (value ?? []).filter((one) => !isSame(one, tool)));
  return (
    <section className="flex flex-col gap-3">
      <Select<"own" | "named">
        label={t`Tools`}
        value={value === null ? "own" : "named"}
        onChange={(next) => onChange(next === "own" ? null : [])}
        options={[
          { value: "own", label: t`What the person has switched on` },
          { value: "named", label: t`Only these` },
        ]}
      />
      {value !== null && (
        <>
          {tools.map((tool) => (
            <Checkbox
              key={`${tool.server_id} ${tool.name}`}
              label={toolTitle(tool.kind, tool)}
              hint={serverTitle(tool.kind, tool.server)}
              checked={isNamed(tool)}
              onChange={(on) => toggle(tool, on)}
            />
          ))}
          <p className="text-muted-foreground text-xs">
            <Trans>
              Whoever chats with the assistant is asked before a call that changes something, and
              signs in where a server wants that.
            </Trans>
          </p>
        </>
      )}
    </section>
  );
}

const isSame = (one: AssistantTool, other: AssistantTool) =>
  one.server_id === other.server_id && one.name === other.name;
