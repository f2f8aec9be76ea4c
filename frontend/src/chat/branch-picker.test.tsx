import { render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { BranchPicker } from "./branch-picker";
import { type ThreadActions, ThreadActionsContext } from "./thread-actions";
import type { ViewMessage } from "./view";

const message = { id: "b", siblings: ["a", "b", "c"] } as ViewMessage;

describe("BranchPicker", () => {
  it.each([true, false])("is off while an answer is on its way: %s", (running) => {
    const actions = { running, switchBranch: vi.fn() } as unknown as ThreadActions;
    render(
      <ThreadActionsContext value={actions}>
        <BranchPicker message={message} />
      </ThreadActionsContext>,
    );
    for (const button of screen.getAllByRole("button")) {
      expect((button as HTMLButtonElement).disabled).toBe(running);
    }
  });
});
