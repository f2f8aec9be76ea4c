/** What can fail, as the help page tells it apart: the fragments of its address. */
export type Topic =
  | "offline"
  | "limit"
  | "budget"
  | "refused"
  | "busy"
  | "failed"
  | "cut"
  | "model"
  | "page"
  | "tool"
  | "file";
