import { t } from "@lingui/core/macro";
import { formatNumber } from "./numbers";

/** `12 KB`, `3.4 MB`: of a file. */
export function readableSize(bytes: number): string {
  if (bytes < 1024 * 1024) {
    const kilobytes = formatNumber(Math.max(1, Math.round(bytes / 1024)));
    return t`${kilobytes} KB`;
  }
  const megabytes = formatNumber(bytes / 1024 / 1024, 1);
  return t`${megabytes} MB`;
}
