import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { STATIONS } from "@/chat/station-bar";

const LONG: Record<string, MessageDescriptor> = {
  edge: msg`The request comes into the server. Long: a server with too much to do.`,
  admission: msg`Limits and budgets are looked up. Long: the database or Redis is slow.`,
  pre_check: msg`The safety check reads the message and its files. Long: very long texts.`,
  queue: msg`It waits for room. Long: many people ask this model; another one may be free.`,
  prefill: msg`The model reads the chat. Long: a long chat, or large files.`,
  first_token: msg`The model has read the chat and begins its answer.`,
  decode: msg`The model writes. Long: a long answer, or a large model on a small machine.`,
  post_check: msg`The safety check reads the answer as it comes.`,
  buffer: msg`The words come to this page.`,
};

/** The stations of an answer, and what it means when one is long. */
export function Stations() {
  return (
    <dl className="grid max-w-2xl gap-x-6 gap-y-1 text-sm sm:grid-cols-[auto_1fr]">
      {Object.entries(STATIONS).map(([name, { label, fill }]) => {
        const long = LONG[name];
        return (
          <div key={name} className="contents">
            <dt className="flex items-center gap-2 font-medium">
              <svg aria-hidden="true" className="size-2" viewBox="0 0 2 2">
                <circle cx="1" cy="1" r="1" fill={fill} />
              </svg>
              {t(label)}
            </dt>
            <dd className="pb-2 text-muted-foreground sm:pb-0">{long && t(long)}</dd>
          </div>
        );
      })}
    </dl>
  );
}
