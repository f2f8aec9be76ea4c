import { useEffect, useMemo, useRef } from "react";
import { shownText } from "@/chat/parts";
import type { ViewMessage } from "@/chat/view";
import { findBlocks, kindOf, type Version, versionsOf } from "./find";
import { type Place, showVersion } from "./opened";

// A message that has not changed is not read again.
const found = new WeakMap<ViewMessage, Version[]>();

function versionsIn(message: ViewMessage): Version[] {
  if (message.role === "user") return [];
  const known = found.get(message);
  if (known) return known;
  const coming = message.status === "pending";
  const versions = findBlocks(shownText(message)).map((block, index) => ({
    ...block,
    // What a stopped answer has left of a block is all that there will be.
    whole: block.whole || !coming,
    messageId: message.id,
    index,
  }));
  found.set(message, versions);
  return versions;
}

/**
 * The versions of what is open, and which of them is shown (-1: it is gone). Who looks at the
 * newest one is taken to the next that comes.
 */
export function useVersions(opened: Place, messages: ViewMessage[]) {
  const all = useMemo(() => messages.flatMap(versionsIn), [messages]);
  const at =
    opened.index === -1
      ? alone(opened)
      : all.find((one) => one.messageId === opened.messageId && one.index === opened.index);
  const versions = !at ? [] : opened.index === -1 ? [at] : versionsOf(all, at);
  const position = at ? versions.indexOf(at) : -1;

  const before = useRef({ title: at?.title, count: versions.length, position });
  useEffect(() => {
    const { title, count, position: was } = before.current;
    const newest = versions.at(-1);
    const followed = at?.title === title && was === count - 1 && position === was;
    if (newest && followed && versions.length > count) {
      showVersion({ ...newest, language: newest.kind });
    }
    before.current = { title: at?.title, count: versions.length, position };
  });
  return { versions, position };
}

/** A block that the answer's text does not show as one, within a quotation for example. */
function alone({ messageId, index, language, code }: Place): Version | undefined {
  const kind = kindOf(language, code);
  return kind ? { kind, title: null, code, whole: true, messageId, index } : undefined;
}
