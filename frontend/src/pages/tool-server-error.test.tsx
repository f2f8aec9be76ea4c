import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolServer } from "@/api/types";
import { activate } from "@/lib/locale";
import { ToolServerError } from "./tool-server-error";

afterEach(() => activate("en"));

function said(code: string, error: string): string[] {
  const { container } = render(
    <ToolServerError server={{ error, error_code: code } as ToolServer} />,
  );
  return [...container.querySelectorAll("p")].map((line) => line.textContent);
}

describe("ToolServerError", () => {
  it("is in the page's language", () => {
    const { id } = msg`The server did not answer in time.`;
    i18n.loadAndActivate({ locale: "de", messages: { [id]: "Keine Antwort in der Zeit." } });
    expect(said("tool_timeout", "Timeout after 20 s.")).toEqual(["Keine Antwort in der Zeit."]);
  });

  it("adds the technical reason of a failure that its code does not explain", () => {
    const reason = "Tool server error: All connection attempts failed";
    expect(said("tool_failed", reason)).toEqual(["The server did not answer as expected.", reason]);
    expect(screen.getByText(reason)).toHaveProperty("lang", "en");
  });

  it("shows an error from before there were codes as it was stored", () => {
    expect(said("", "Timeout after 20 s.")).toEqual(["Timeout after 20 s."]);
  });
});
