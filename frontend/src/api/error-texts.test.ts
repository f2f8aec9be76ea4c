import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { afterEach, describe, expect, it } from "vitest";
import { activate } from "@/lib/locale";
import { apiErrorFrom, errorMessage } from "./errors";

const SERVER = "Too many attempts. Try again in 9 seconds.";

afterEach(() => activate("en"));

async function said(code: string): Promise<string> {
  const answer = Response.json({ error: { code, message: SERVER } }, { status: 429 });
  return errorMessage(await apiErrorFrom(answer));
}

describe("an error of the API", () => {
  it("is in the page's words on an English page too", async () => {
    expect(await said("too_many_attempts")).toBe("Too many attempts. Try again later.");
    expect(await said("context_length_exceeded")).toMatch(/^This is longer than the model can/);
  });

  it("is in the page's language where its code is known", async () => {
    const { id } = msg`Too many attempts. Try again later.`;
    i18n.loadAndActivate({ locale: "de", messages: { [id]: "Zu viele Versuche." } });
    expect(await said("too_many_attempts")).toBe("Zu viele Versuche.");
    expect(await said("new_of_the_server")).toBe(SERVER);
    expect(await said("constructor")).toBe(SERVER);
  });
});
