import { render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import * as assistant from "./assistant-message";
import { MessageRow } from "./message-row";
import type { ViewMessage } from "./view";

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(assistant, "AssistantMessage").mockImplementation(({ message }) => {
    if (message.content === "broken") throw new Error("cannot be shown");
    return <p>{message.content}</p>;
  });
});

const row = (content: string) => (
  <MessageRow
    message={{ id: "1", role: "assistant", content } as ViewMessage}
    answeredBy={null}
    readFrom=""
    saidAbove=""
    editing={false}
    setEditing={() => undefined}
  />
);

it("says that a message cannot be shown, and shows it as soon as it can", () => {
  const both = (first: string) => (
    <>
      {row(first)}
      {row("whole")}
    </>
  );
  const page = render(both("broken"));
  expect(screen.getByText("This message could not be shown")).toBeInTheDocument();
  expect(screen.getByText("whole")).toBeInTheDocument();
  page.rerender(both("mended"));
  expect(screen.getByText("mended")).toBeInTheDocument();
});
