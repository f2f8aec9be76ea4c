import { errorText } from "@/api/error-texts";
import type { ToolServer } from "@/api/types";
import { Notice } from "@/ui/notice";

/**
 * Why a server's tools could not be read, in the reader's language. Where its code says little, the
 * technical reason stands below it, in English.
 */
export function ToolServerError({ server }: { server: ToolServer }) {
  const { error, error_code: code } = server;
  if (!error) return null;
  const text = errorText({ code, message: error });
  return (
    <Notice tone="warning">
      {text && <p>{text}</p>}
      {(!text || code === "tool_failed") && (
        <p lang="en" dir="auto" className="break-words">
          {error}
        </p>
      )}
    </Notice>
  );
}
