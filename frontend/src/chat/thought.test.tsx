import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { ThoughtSection, thoughtOf } from "./thought";
import type { LiveAnswer, ViewMessage } from "./view";

const message = (known: Partial<ViewMessage>): ViewMessage =>
  ({ parts: [], live: null, ...known }) as ViewMessage;

const live = (known: Partial<LiveAnswer>) =>
  message({
    live: {
      thought: "Let me see.",
      thoughtFrom: 1_000,
      thoughtUntil: null,
      ...known,
    } as LiveAnswer,
  });

describe("an answer's thought", () => {
  it("is open while it streams, and folded when the answer begins", async () => {
    const { rerender } = render(
      <ThoughtSection thought={{ text: "Let me see.", seconds: null }} />,
    );
    const section = screen.getByText("Thinking").closest("details");
    expect(section).toHaveAttribute("open");
    rerender(<ThoughtSection thought={{ text: "Let me see.", seconds: 4.2 }} />);
    expect(section).not.toHaveAttribute("open");
    await userEvent.click(screen.getByText("Thought for 4 s"));
    expect(section).toHaveAttribute("open");
    expect(screen.getByText("Let me see.")).toBeInTheDocument();
  });

  it("is measured while it streams, and read from the stored message afterwards", () => {
    expect(thoughtOf(live({}))).toEqual({ text: "Let me see.", seconds: null });
    expect(thoughtOf(live({ thoughtUntil: 3_500 }))?.seconds).toBe(2.5);
    const parts = [{ type: "reasoning" as const, text: "Hm.", seconds: 61 }];
    expect(thoughtOf(message({ parts }))).toMatchObject({ text: "Hm.", seconds: 61 });
    expect(thoughtOf(message({}))).toBeNull();
  });
});
