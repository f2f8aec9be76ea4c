import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { ThoughtSection, thoughtOf } from "./thought";
import type { ViewMessage } from "./view";

const message = (known: Partial<ViewMessage>): ViewMessage =>
  ({ parts: [], live: null, ...known }) as ViewMessage;

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

  it("is read from the parts of a message", () => {
    const parts = [{ type: "reasoning" as const, text: "Hm.", seconds: 61 }];
    expect(thoughtOf(message({ parts }))).toMatchObject({ text: "Hm.", seconds: 61 });
    expect(thoughtOf(message({}))).toBeNull();
  });
});
