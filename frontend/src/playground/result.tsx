import type { Model } from "@/api/types";
import { Section } from "@/pages/page-layout";
import { costOf, type Run, type Token } from "./run";

/** What came of a request: its answer, figures and the chances of its tokens. */
export function ResultSection({ run, model }: { run: Run; model: Model | undefined }) {
  return (
    <Section title="Answer">
      <div className="flex flex-col gap-3 rounded-2xl border border-border p-4 text-sm">
        {run.thought && (
          <p className="whitespace-pre-wrap border-border border-s-2 ps-3 text-muted-foreground">
            {run.thought}
          </p>
        )}
        <p className="min-h-5 whitespace-pre-wrap break-words">{run.text}</p>
        {run.calls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls have no other name
          <pre key={index} className="whitespace-pre-wrap break-words font-mono text-xs">
            {call.name}({call.arguments})
          </pre>
        ))}
      </div>
      <Figures run={run} model={model} />
      {run.tokens.length > 0 && <Tokens tokens={run.tokens} />}
    </Section>
  );
}

function Figures({ run, model }: { run: Run; model: Model | undefined }) {
  const { usage, firstTokenMs, totalMs } = run;
  const thought = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
  const images = usage?.prompt_tokens_details?.image_tokens ?? 0;
  const figures: [string, string | null][] = [
    ["First token", firstTokenMs === null ? null : `${Math.round(firstTokenMs)} ms`],
    ["In all", totalMs === null ? null : `${(totalMs / 1000).toFixed(2)} s`],
    ["Input tokens", usage && String(usage.prompt_tokens)],
    ["of these, cached", usage && String(usage.prompt_tokens_details?.cached_tokens ?? 0)],
    ["of these, images", images ? String(images) : null],
    ["Output tokens", usage && String(usage.completion_tokens)],
    ["of these, thought", thought ? String(thought) : null],
    ["Cost", usage && model?.prices ? `$${costOf(usage, model.prices).toFixed(6)}` : null],
    ["Ended by", run.finishReason],
    ["Requests left this minute", run.requestsLeft],
    ["Tokens left this minute", run.tokensLeft],
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-2 text-sm sm:grid-cols-3">
      {figures.map(
        ([label, value]) =>
          value !== null && (
            <div key={label} className="flex flex-col">
              <dt className="text-muted-foreground text-xs">{label}</dt>
              <dd className="tabular-nums">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

const chance = (logprob: number) => `${(Math.exp(logprob) * 100).toFixed(1)} %`;

function Tokens({ tokens }: { tokens: Token[] }) {
  return (
    <section
      aria-label="Tokens"
      className="max-h-80 overflow-auto rounded-2xl border border-border"
    >
      <table className="w-full text-start text-xs">
        <thead className="text-muted-foreground">
          <tr>
            <th className="px-3 py-2 font-medium">Token</th>
            <th className="px-3 py-2 font-medium">Chance</th>
            <th className="px-3 py-2 font-medium">Likeliest</th>
          </tr>
        </thead>
        <tbody className="font-mono">
          {tokens.map((token, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a token's place is its name
            <tr key={index} className="border-border border-t">
              <td className="whitespace-pre px-3 py-1">{JSON.stringify(token.token)}</td>
              <td className="px-3 py-1 tabular-nums">{chance(token.logprob)}</td>
              <td className="px-3 py-1">
                {token.top_logprobs
                  .map((one) => `${JSON.stringify(one.token)} ${chance(one.logprob)}`)
                  .join(", ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
