import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Body } from "@/playground/body";
import { Code } from "@/playground/code";

const FIRST: Body = {
  model: "auto",
  messages: [{ role: "user", content: "Say hello." }],
  max_tokens: 64,
};
const PIP = "pip install openai";
const NPM = "npm install openai";

/** A first call that works when it is pasted. `secret`: of a key that was just made. */
export function Quickstart({ secret }: { secret?: string }) {
  return (
    <>
      <p className="text-muted-foreground text-sm">
        <Trans>
          Needs OpenAI's client ({PIP}, or {NPM}), or curl alone.
        </Trans>{" "}
        {!secret && t`Set PARLEY_API_KEY to the key's secret first.`}
      </p>
      <Code body={FIRST} {...(secret && { secret })} />
    </>
  );
}
