import { t } from "@lingui/core/macro";
import { errorMessage } from "@/api/errors";
import type { ToolRule } from "@/api/tools";
import type { ToolServer } from "@/api/types";
import { serverTitle, toolDescription, toolTitle } from "@/chat/own-tools";
import { Checkbox } from "@/ui/checkbox";
import { Notice } from "@/ui/notice";
import { HeldTool } from "./held-tool";

type Tool = ToolServer["tools"][number];

interface ToolRulesProps {
  server: ToolServer;
  disabled: boolean;
  /** What is known of a tool where it may be called without asking. */
  claims: (tool: Tool) => string;
  /** The last change, where it was refused: said at its tool, which may read otherwise since. */
  refused?: { tool: string; error: Error } | undefined;
  onChange: (rule: ToolRule) => void;
}

/** What each tool of a server may do. */
export function ToolRules({ server, disabled, claims, refused, onChange }: ToolRulesProps) {
  if (server.tools.length === 0) return null;
  const name = serverTitle(server.kind, server.name);
  return (
    <ul className="flex flex-col gap-4" aria-label={t`Tools of ${name}`}>
      {server.tools.map((tool) => (
        <ToolRow
          key={tool.name}
          kind={server.kind}
          tool={tool}
          disabled={disabled}
          claims={claims(tool)}
          error={refused?.tool === tool.name ? refused.error : null}
          onChange={onChange}
        />
      ))}
    </ul>
  );
}

interface ToolRowProps {
  kind: ToolServer["kind"];
  tool: Tool;
  disabled: boolean;
  claims: string;
  error: Error | null;
  onChange: (rule: ToolRule) => void;
}

function ToolRow({ kind, tool, disabled, claims, error, onChange }: ToolRowProps) {
  const name = toolTitle(kind, tool);
  return (
    <li className="flex flex-col gap-2">
      {tool.held_for.length > 0 ? (
        <HeldTool
          tool={tool}
          name={name}
          disabled={disabled}
          onAllow={() => onChange({ ...ruleOf(tool), allowed: true })}
        />
      ) : (
        <Checkbox
          label={t`Allow ${name}`}
          hint={toolDescription(kind, tool.name, tool.description)}
          checked={tool.allowed}
          disabled={disabled}
          onChange={(allowed) => onChange({ ...ruleOf(tool), allowed })}
        />
      )}
      {error && (
        <Notice tone="error" className="max-w-2xl">
          {errorMessage(error)}
        </Notice>
      )}
      <Checkbox
        label={t`Ask before ${name}`}
        hint={claims}
        checked={tool.needs_approval}
        disabled={disabled}
        onChange={(needs_approval) => onChange({ ...ruleOf(tool), needs_approval })}
      />
    </li>
  );
}

function ruleOf({ name, allowed, needs_approval, fingerprint }: Tool): ToolRule {
  return { name, allowed, needs_approval, fingerprint };
}
