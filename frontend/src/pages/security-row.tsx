import type { ReactNode } from "react";
import { errorMessage } from "@/api/errors";
import { Notice } from "@/ui/notice";

interface RowProps {
  title: string;
  note: string;
  error?: Error | null;
  children: ReactNode;
}

/** One of the second factors, and what can be done with it. */
export function Row({ title, note, error, children }: RowProps) {
  return (
    <li className="flex flex-col gap-3 border-border border-b px-4 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <span className="flex min-w-0 flex-col">
          <span className="font-medium text-sm">{title}</span>
          <span className="text-muted-foreground text-xs">{note}</span>
        </span>
        <span className="flex gap-2">{children}</span>
      </div>
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
    </li>
  );
}

/** After a change; `result`: what it has given. */
export type OnChange = (result?: { recovery_codes: string[] }) => Promise<void>;
