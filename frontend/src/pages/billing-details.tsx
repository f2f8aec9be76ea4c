import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { setBillingDetails } from "@/api/billing";
import { ApiError, errorMessage } from "@/api/errors";
import type { Billing, BillingDetails } from "@/api/types";
import { isLanguage, type Language, languageOptions } from "@/lib/locale";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";

interface DetailField {
  name: keyof BillingDetails;
  label: MessageDescriptor;
  hint?: MessageDescriptor;
  maxLength: number;
}

const FIELDS: DetailField[] = [
  { name: "legal_name", label: msg`Legal name`, maxLength: 200 },
  { name: "address", label: msg({ message: "Address", context: "postal" }), maxLength: 1000 },
  { name: "country", label: msg`Country`, hint: msg`Two letters, such as DE.`, maxLength: 2 },
  { name: "tax_id", label: msg`Tax id`, maxLength: 60 },
  {
    name: "email",
    label: msg`Invoices go to`,
    hint: msg`Empty: to owners and finance members.`,
    maxLength: 254,
  },
];

/** Who is invoiced, from the next invoice on. */
export function Details({ billing }: { billing: Billing }) {
  const client = useQueryClient();
  const [details, setDetails] = useState(billing.details);
  const save = useMutation({
    mutationFn: setBillingDetails,
    onSuccess: (next) => {
      client.setQueryData(["billing"], next);
      toast(t`Who is invoiced is saved.`);
    },
  });
  const wrong = save.error instanceof ApiError ? save.error.body.param : undefined;
  return (
    <Section title={t`Invoiced to`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(details);
        }}
      >
        {save.error && !wrong && <Notice tone="error">{errorMessage(save.error)}</Notice>}
        {FIELDS.map(({ name, label, hint, maxLength }) => (
          <Field
            key={name}
            label={t(label)}
            {...(hint && { hint: t(hint) })}
            maxLength={maxLength}
            value={details[name]}
            error={wrong === name ? errorMessage(save.error) : undefined}
            onChange={(event) =>
              setDetails({
                ...details,
                [name]: name === "country" ? event.target.value.toUpperCase() : event.target.value,
              })
            }
          />
        ))}
        <Select<Language | "">
          label={t`Language of invoices`}
          value={isLanguage(details.language) ? details.language : ""}
          onChange={(language) => setDetails({ ...details, language })}
          options={[{ value: "", label: t`As the first owner has chosen` }, ...languageOptions]}
          className="self-start"
        />
        <Button type="submit" className="self-start" busy={save.isPending}>
          <Trans>Save</Trans>
        </Button>
      </form>
    </Section>
  );
}
