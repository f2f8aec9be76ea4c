import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { errorMessage } from "@/api/errors";
import { policyKey, putAnswerReuse } from "@/api/privacy";
import type { DataPolicy } from "@/api/types";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";

const CACHES: Record<DataPolicy["answer_cache"], MessageDescriptor> = {
  off: msg`No request`,
  exact: msg`Identical requests`,
};

/** For owners and admins: which requests get an answer that was computed for another one. */
export function AnswerReuse({ policy }: { policy: DataPolicy }) {
  const client = useQueryClient();
  const id = useId();
  const [shares, setShares] = useState(policy.shares_running);
  const [cache, setCache] = useState(policy.answer_cache);
  const [minutes, setMinutes] = useState(String(policy.answer_cache_s / 60));
  const [sampled, setSampled] = useState(policy.reuses_sampled);
  const save = useMutation({
    mutationFn: () =>
      putAnswerReuse({
        shares_running: shares,
        answer_cache: cache,
        answer_cache_s: Math.round(Number(minutes) * 60),
        reuses_sampled: sampled,
      }),
    onSuccess: (next) => {
      client.setQueryData(policyKey, next);
      toast(t`Saved. It holds within seconds.`);
    },
  });
  return (
    <Section title={t`Reused answers`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
        <p className="text-muted-foreground text-sm">
          <Trans>
            A reused answer is checked again, costs less than a computed one, and never leaves the
            organization.
          </Trans>
        </p>
        <Checkbox
          label={t`Compute identical requests once while they run`}
          checked={shares}
          onChange={setShares}
        />
        <div className="flex flex-col gap-1.5">
          <label htmlFor={id} className="font-medium text-sm">
            <Trans>Stored answers are given to</Trans>
          </label>
          <select
            id={id}
            className={inputClass}
            value={cache}
            onChange={(event) => setCache(event.target.value as DataPolicy["answer_cache"])}
          >
            {Object.entries(CACHES).map(([value, label]) => (
              <option key={value} value={value}>
                {i18n._(label)}
              </option>
            ))}
          </select>
        </div>
        {cache !== "off" && (
          <Field
            label={t`Minutes that an answer is stored`}
            type="number"
            required
            min={1}
            max={10080}
            value={minutes}
            onChange={(event) => setMinutes(event.target.value)}
          />
        )}
        <Checkbox
          label={t`Also where answers are sampled`}
          hint={t`Off: only at temperature 0 or with a seed, where the answer would be the same.`}
          checked={sampled}
          onChange={setSampled}
        />
        <Button type="submit" className="self-start" busy={save.isPending}>
          <Trans>Save</Trans>
        </Button>
      </form>
    </Section>
  );
}
