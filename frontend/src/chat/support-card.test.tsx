import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { ApiError } from "@/api/errors";
import { helpLine } from "./help-lines";
import { SupportCard, showsSupport } from "./support-card";
import type { LiveAnswer, ViewMessage } from "./view";

const message = (known: Partial<ViewMessage>) =>
  ({ support: false, live: null, content: "", status: "completed", ...known }) as ViewMessage;
const live = (known: Partial<LiveAnswer>) =>
  ({ support: false, error: null, ...known }) as LiveAnswer;
const refused = (code: string) => live({ error: new ApiError(400, { message: "no", code }) });

it("is shown beside stored, coming and refused answers that need it", () => {
  expect(showsSupport(message({ support: true }))).toBe(true);
  expect(showsSupport(message({ live: live({ support: true }) }))).toBe(true);
  expect(showsSupport(message({ live: refused("self_harm_support") }))).toBe(true);
  expect(showsSupport(message({ live: refused("content_policy_violation") }))).toBe(false);
  expect(showsSupport(message({}))).toBe(false);
});

it("names the country's line and all others", () => {
  render(<SupportCard message={message({ support: true })} />);
  expect(screen.getByRole("link", { name: "988" })).toHaveAttribute("href", "tel:988");
  expect(screen.getByRole("link", { name: "findahelpline.com" })).toBeInTheDocument();
});

it.each([
  ["en", "988"],
  ["en-GB", "116 123"],
  ["de", "0800 111 0 111"],
  ["de-AT", "142"],
  ["fr", "3114"],
  ["es", "024"],
  ["pt", "188"],
  ["ja", "0120-279-338"],
  ["zh-CN", "12356"],
  ["ar", "16328"],
  ["es-AR", undefined],
])("knows a line of %s", (tag, number) => {
  expect(helpLine(tag)?.number).toBe(number);
});
