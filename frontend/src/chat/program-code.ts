import type { Part, ToolCall } from "@/api/types";

/** The name by which models call Python (backend/tools/python_tool.py). */
const PYTHON = "python";

export const isProgram = (part: Part): boolean => part.type === "call" && part.name === PYTHON;

/** A call that waits for a page to run it. */
export const isDue = ({ of_page, is_current, status }: ToolCall): boolean =>
  of_page && is_current && status === "due";

/** No page may run it any more, or once more. */
export const isOver = ({ status }: ToolCall): boolean =>
  status === "done" || status === "failed" || status === "cancelled";

/** The program that a model has written; what is none, as it was written. */
export function codeOf(written: string): string {
  try {
    const { code } = JSON.parse(written) as { code?: unknown };
    return typeof code === "string" ? code : written;
  } catch {
    return written;
  }
}
