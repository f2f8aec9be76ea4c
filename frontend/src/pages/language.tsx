import { t } from "@lingui/core/macro";
import { useMutation } from "@tanstack/react-query";
import { patchMe } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { useMe } from "@/app/session";
import { choose, isLanguage, type Language, languageOptions } from "@/lib/locale";
import { Select } from "@/ui/select";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";

type Choice = Language | "";

/** The language of the account: of the page, wherever it is opened, and of mails. */
export function LanguageSection() {
  const { language } = useMe().user;
  const save = useMutation({
    mutationFn: (wanted: Choice) => patchMe({ language: wanted }),
    onSuccess: (_, wanted) => choose(wanted || null),
    onError: (error) => toast(errorMessage(error)),
  });
  return (
    <Section title={t`Language`}>
      <Select<Choice>
        label={t`Language of the page and of mails`}
        value={isLanguage(language) ? language : ""}
        onChange={(wanted) => save.mutate(wanted)}
        disabled={save.isPending}
        options={[{ value: "", label: t`As the browser says` }, ...languageOptions]}
        className="self-start"
      />
    </Section>
  );
}
