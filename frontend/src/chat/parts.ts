/**
 * What an answer consists of: an ordered list of typed parts. One reducer makes it of the events of
 * a stream; stored answers come as the same parts, so that everything that shows one reads these.
 */
import type { Part } from "@/api/types";

/** What a stream adds to an answer. */
export interface Delta {
  type: "text" | "thought";
  text: string;
}

/** `parts` with one more delta, at `now` in ms since the epoch. What is there is never changed. */
export function withDelta(parts: Part[], delta: Delta, now: number): Part[] {
  const last = parts.at(-1);
  if (delta.type === "thought") {
    if (last?.type === "reasoning" && last.seconds === null) {
      return [...parts.slice(0, -1), { ...last, text: last.text + delta.text }];
    }
    return [...parts, { type: "reasoning", text: delta.text, seconds: null, since: now }];
  }
  if (last?.type === "text") {
    return [...parts.slice(0, -1), { ...last, text: last.text + delta.text }];
  }
  return [...ended(parts, now), { type: "text", text: delta.text }];
}

function ended(parts: Part[], now: number): Part[] {
  return parts.map((part) =>
    part.type === "reasoning" && part.seconds === null
      ? { ...part, seconds: (now - (part.since ?? now)) / 1000 }
      : part,
  );
}

/** What an answer shows: what is stored as the text of one that calls tools names the calls, too. */
export const shownText = ({ parts, content }: { parts: Part[]; content: string }): string =>
  parts.some(({ type }) => type === "call") ? textOfParts(parts) : content;

/** Whether a message holds nothing but what tools have answered. */
export const isResultsOnly = (parts: Part[]): boolean =>
  parts.length > 0 && parts.every((part) => part.type === "call_output");

/** The words of the parts, without files and thoughts. */
export function textOfParts(parts: Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
