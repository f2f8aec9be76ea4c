import { Trans } from "@lingui/react/macro";
import type { Part } from "@/api/types";
import { useModelList } from "./queries";

interface ImageTextNoticeProps {
  parts: Part[];
  /** The model that answers; null where none does yet. */
  model: string | null;
}

/** Says below a message's images that the model was given no more than the text in them. */
export function ImageTextNotice({ parts, model }: ImageTextNoticeProps) {
  const shown = model !== null && parts.some((part) => part.type === "image");
  return shown ? <ReadFor model={model} /> : null;
}

function ReadFor({ model }: { model: string }) {
  const { data } = useModelList();
  const reads = data.find(({ id }) => id === model)?.capabilities.includes("ocr");
  if (!reads) return null;
  return (
    <p className="mb-1.5 text-muted-foreground text-sm">
      <Trans>This model cannot see images. It was given the text in them, read by OCR.</Trans>
    </p>
  );
}
