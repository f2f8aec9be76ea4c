import { t } from "@lingui/core/macro";
import { AppWindow, Play } from "lucide-react";
import { use } from "react";
import { HeadButton } from "@/markdown/source";
import { findBlocks, indexOfCode, kindOf } from "./find";
import { AnswerContext, openArtifact } from "./opened";

/** Opens a block of code as what it describes, where it describes something; runs a program. */
export function OpenButton({ code, language }: { code: string; language: string }) {
  const answer = use(AnswerContext);
  const kind = kindOf(language, code);
  if (!answer || !kind) return null;
  const open = () => {
    const index = indexOfCode(findBlocks(answer.text), code);
    openArtifact({ messageId: answer.messageId, index, language, code });
  };
  return (
    <HeadButton onClick={open}>
      {kind === "python" ? (
        <Play aria-hidden className="size-3.5" />
      ) : (
        <AppWindow aria-hidden className="size-3.5" />
      )}
      {kind === "python"
        ? t({ message: "Run", context: "action" })
        : t({ message: "Open", context: "action" })}
    </HeadButton>
  );
}
