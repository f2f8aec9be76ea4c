import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Model } from "@/api/types";
import { HelpLink } from "@/help/link";
import { Notice } from "@/ui/notice";

interface ModelOutageProps {
  model: Model | undefined;
  models: Model[];
}

/** Says that the chosen model cannot answer now, and what can be done meanwhile. */
export function ModelOutage({ model, models }: ModelOutageProps) {
  if (model?.status === "loading") return <ModelLoading name={model.name} />;
  if (model?.status !== "unavailable") return null;
  const { name } = model;
  const another = models.find(({ status }) => status === "ready")?.name;
  return (
    <div className="px-3 pb-2">
      <Notice
        tone="offline"
        title={t`${name} can't answer at the moment`}
        actions={<HelpLink topic="model" />}
        className="mx-auto max-w-3xl py-2"
      >
        {another
          ? t`Choose ${another} above, or wait: this goes away when it is back.`
          : t`Everything else works: your chats, files, usage and settings. This goes away when it is back.`}
      </Notice>
    </div>
  );
}

function ModelLoading({ name }: { name: string }) {
  return (
    <div className="px-3 pb-2">
      <Notice tone="info" title={t`${name} is loading`} className="mx-auto max-w-3xl py-2">
        <Trans>It answers as soon as it is there.</Trans>
      </Notice>
    </div>
  );
}
