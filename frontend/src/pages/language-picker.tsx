import { t } from "@lingui/core/macro";
import { choose, language, languageOptions } from "@/lib/locale";
import { Select } from "@/ui/select";

/** The page's language for who is not signed in. */
export function LanguagePicker() {
  return (
    <Select
      quiet
      label={t`Language`}
      value={language()}
      onChange={(wanted) => choose(wanted)}
      options={languageOptions}
      className="h-8 self-center border-transparent text-muted-foreground"
    />
  );
}
