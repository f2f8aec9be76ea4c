import type { ToolRule } from "@/api/tools";
import type { ToolServer } from "@/api/types";
import { Checkbox } from "@/ui/checkbox";

type Tool = ToolServer["tools"][number];

interface ToolRulesProps {
  server: ToolServer;
  disabled: boolean;
  /** What is known of a tool where it may be called without asking. */
  claims: (tool: Tool) => string;
  onChange: (rule: ToolRule) => void;
}

/** What each tool of a server may do. */
export function ToolRules({ server, disabled, claims, onChange }: ToolRulesProps) {
  if (server.tools.length === 0) return null;
  return (
    <ul className="flex flex-col gap-4" aria-label={`Tools of ${server.name}`}>
      {server.tools.map((tool) => (
        <li key={tool.name} className="flex flex-col gap-2">
          <Checkbox
            label={`Allow ${tool.title || tool.name}`}
            hint={tool.description}
            checked={tool.allowed}
            disabled={disabled}
            onChange={(allowed) => onChange({ ...ruleOf(tool), allowed })}
          />
          <Checkbox
            label={`Ask before ${tool.title || tool.name}`}
            hint={claims(tool)}
            checked={tool.needs_approval}
            disabled={disabled}
            onChange={(needs_approval) => onChange({ ...ruleOf(tool), needs_approval })}
          />
        </li>
      ))}
    </ul>
  );
}

function ruleOf({ name, allowed, needs_approval }: Tool): ToolRule {
  return { name, allowed, needs_approval };
}
