import { t } from "@lingui/core/macro";
import { Check, Copy } from "lucide-react";
import { useCopy } from "@/lib/clipboard";
import { IconButton } from "@/ui/icon-button";

/** Copies `text`; shows a tick for a moment. */
export function CopyButton({ text, label = t`Copy` }: { text: string; label?: string }) {
  const [copied, copy] = useCopy();
  return (
    <IconButton label={copied ? t`Copied` : label} onClick={() => void copy(text)}>
      {copied ? <Check className="size-4" /> : <Copy className="size-4" />}
    </IconButton>
  );
}
