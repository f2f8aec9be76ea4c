import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import { ApiError } from "@/api/errors";
import { AnswerNotice } from "./answer-notice";
import { type ThreadActions, ThreadActionsContext } from "./thread-actions";
import type { LiveAnswer, ViewMessage } from "./view";

/** The notice of a turn that was refused with this code. */
function refused(code: string) {
  const error = new ApiError(400, { message: "the prompt has 72920", code });
  const live = { phase: "failed", error, retryAt: null, messageId: "m" } as LiveAnswer;
  return render(
    <MemoryRouter>
      <ThreadActionsContext value={{ retry: () => undefined } as ThreadActions}>
        <AnswerNotice message={{ live } as ViewMessage} />
      </ThreadActionsContext>
    </MemoryRouter>,
  ).container;
}

it("offers a new chat where the model cannot read as much", () => {
  refused("context_length_exceeded");
  expect(screen.getByRole("link", { name: "New chat" })).toHaveAttribute("href", "/");
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
});

it("offers to try again after another failure", () => {
  refused("upstream_failed");
  expect(screen.getByRole("button", { name: "Try again" })).toBeInTheDocument();
});

it("says nothing of a policy where the support card stands", () => {
  expect(refused("self_harm_support")).toBeEmptyDOMElement();
});
