import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { memo } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import * as rows from "./message-row";
import { Thread } from "./thread";
import type { LiveAnswer, ViewMessage } from "./view";

beforeEach(() => {
  const exported: Record<string, unknown> = rows;
  vi.spyOn(exported, "MessageRow", "get").mockReturnValue(memo(() => null));
});

const loadOlder = vi.fn();
const thread = (state: { loadingOlder?: boolean; olderFailed?: boolean }) => (
  <Thread
    messages={[]}
    hasOlder
    loadingOlder={false}
    olderFailed={false}
    loadOlder={loadOlder}
    footer={null}
    {...state}
  />
);

describe("older messages that fail to load", () => {
  it("are not asked for again by a render, only by the reader", async () => {
    const { rerender } = render(thread({}));
    expect(loadOlder).toHaveBeenCalledTimes(1);
    rerender(thread({ loadingOlder: true }));
    rerender(thread({ olderFailed: true }));
    rerender(thread({ olderFailed: true }));
    expect(loadOlder).toHaveBeenCalledTimes(1);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(loadOlder).toHaveBeenCalledTimes(2);
  });
});

describe("the reader's place", () => {
  const user = (id: string) => ({ id, role: "user", live: null }) as ViewMessage;
  const answer = (id: string, sentAt: string | null) =>
    ({
      id,
      role: "assistant",
      live: { sent: sentAt && { parts: [], at: sentAt } } as LiveAnswer,
    }) as ViewMessage;
  const shown = (messages: ViewMessage[]) => (
    <Thread
      messages={messages}
      hasOlder={false}
      loadingOlder={false}
      olderFailed={false}
      loadOlder={loadOlder}
      footer={null}
    />
  );

  function readerUpIn(messages: ViewMessage[]) {
    const page = render(shown(messages));
    const viewport = screen.getByLabelText("Messages");
    Object.defineProperty(viewport, "scrollHeight", { value: 1000 });
    viewport.scrollTop = 100;
    return { ...page, viewport };
  }

  it.each([
    ["another branch is shown", [user("2b")]],
    ["another tab has sent a message", [user("1"), user("2"), user("3"), answer("4", null)]],
  ])("is kept when %s", (_, messages) => {
    const { rerender, viewport } = readerUpIn([user("1"), user("2")]);
    rerender(shown(messages));
    expect(viewport.scrollTop).toBe(100);
  });

  it("is the end when this tab sends, and stays the reader's while the message gets its id", () => {
    const { rerender, viewport } = readerUpIn([user("1")]);
    rerender(shown([user("1"), user("sent"), answer("answer", "09:00")]));
    expect(viewport.scrollTop).toBe(1000);
    viewport.scrollTop = 100;
    rerender(shown([user("1"), user("2"), answer("3", "09:00")]));
    rerender(shown([user("1"), user("2")]));
    expect(viewport.scrollTop).toBe(100);
  });
});
