import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ToolServer } from "@/api/types";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

interface HeldToolProps {
  tool: ToolServer["tools"][number];
  name: string;
  disabled: boolean;
  onAllow: () => void;
}

/** A tool that no model is given before somebody has looked at it: why, and all that it says, which
 * is its server's word and never more than text. */
export function HeldTool({ tool, name, disabled, onAllow }: HeldToolProps) {
  const said = [tool.title, tool.description, tool.parameters].filter(Boolean).join("\n\n");
  const changed = tool.held_for.includes("changed");
  return (
    <div className="flex max-w-2xl flex-col gap-2">
      <Notice tone="warning" title={t`${name} is held: no model is given it until you allow it.`}>
        {tool.held_for.includes("orders") && (
          <p>
            <Trans>What it says reads like instructions to a model. It can be harmless.</Trans>
          </p>
        )}
        {changed && (
          <p>
            <Trans>Its server has changed it since it was allowed.</Trans>
          </p>
        )}
      </Notice>
      {tool.held_for.includes("orders") && (
        <Said title={t`What reads like instructions`} text={tool.orders} open />
      )}
      <Said title={t`All that its server says of it`} text={said} open={changed} />
      {changed && (
        <Said title={t`What it said when it was allowed`} text={tool.allowed_text} open />
      )}
      <Button
        variant="outline"
        className="h-auto min-h-10 self-start whitespace-normal py-2 text-start"
        disabled={disabled}
        onClick={onAllow}
      >
        {t`Allow ${name} as it is shown`}
      </Button>
    </div>
  );
}

function Said({ title, text, open = false }: { title: string; text: string; open?: boolean }) {
  return (
    <details open={open} className="rounded-xl border border-border px-3 py-1 text-sm">
      <summary className="min-h-6 cursor-pointer py-1 font-medium">{title}</summary>
      <pre
        dir="auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
        className="max-h-[40dvh] overflow-y-auto whitespace-pre-wrap break-words pb-2 font-mono text-muted-foreground text-xs leading-5"
      >
        {text}
      </pre>
    </details>
  );
}
