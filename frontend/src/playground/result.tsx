import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Model } from "@/api/types";
import { locale } from "@/lib/locale";
import { formatNumber } from "@/lib/numbers";
import { Section } from "@/pages/page-layout";
import { costOf, type Run, type Token } from "./run";

/** What came of a request: its answer, figures and the chances of its tokens. */
export function ResultSection({ run, model }: { run: Run; model: Model | undefined }) {
  return (
    <Section title={t({ message: "Answer", context: "noun" })}>
      <div className="flex flex-col gap-3 rounded-2xl border border-border p-4 text-sm">
        {run.thought && (
          <p
            dir="auto"
            className="whitespace-pre-wrap border-border border-s-2 ps-3 text-muted-foreground"
          >
            {run.thought}
          </p>
        )}
        <p dir="auto" className="min-h-5 whitespace-pre-wrap break-words">
          {run.text}
        </p>
        {run.calls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls have no other name
          <pre key={index} dir="ltr" className="whitespace-pre-wrap break-words font-mono text-xs">
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
    [t`First token`, firstTokenMs === null ? null : milliseconds(firstTokenMs)],
    [t`In all`, totalMs === null ? null : seconds(totalMs)],
    [t`Input tokens`, usage && formatNumber(usage.prompt_tokens)],
    [t`of these, cached`, usage && formatNumber(usage.prompt_tokens_details?.cached_tokens ?? 0)],
    [t`of these, images`, images ? formatNumber(images) : null],
    [t`Output tokens`, usage && formatNumber(usage.completion_tokens)],
    [t`of these, thought`, thought ? formatNumber(thought) : null],
    [t`Cost`, usage && model?.prices ? dollars(costOf(usage, model.prices)) : null],
    [t`Ended by`, run.finishReason],
    [t`Requests left this minute`, run.requestsLeft && formatNumber(Number(run.requestsLeft))],
    [t`Tokens left this minute`, run.tokensLeft && formatNumber(Number(run.tokensLeft))],
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

function milliseconds(time: number): string {
  const amount = formatNumber(time);
  return t`${amount} ms`;
}

function seconds(timeMs: number): string {
  const amount = formatNumber(timeMs / 1000, 2);
  return t`${amount} s`;
}

const dollars = (amount: number) =>
  new Intl.NumberFormat(locale(), {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 6,
  }).format(amount);

function chance(logprob: number): string {
  const amount = formatNumber(Math.exp(logprob) * 100, 1);
  return t`${amount} %`;
}

function Tokens({ tokens }: { tokens: Token[] }) {
  return (
    <section
      aria-label={t`Tokens`}
      className="max-h-80 overflow-auto rounded-2xl border border-border"
    >
      <table className="w-full text-start text-xs">
        <thead className="text-muted-foreground">
          <tr>
            <th className="px-3 py-2 font-medium">
              <Trans>Token</Trans>
            </th>
            <th className="px-3 py-2 font-medium">
              <Trans>Chance</Trans>
            </th>
            <th className="px-3 py-2 font-medium">
              <Trans>Likeliest</Trans>
            </th>
          </tr>
        </thead>
        <tbody dir="ltr" className="font-mono">
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
