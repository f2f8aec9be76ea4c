import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { ImportDialog } from "./import-dialog";

it("says what is wrong with a file that holds no chats", async () => {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ImportDialog open onOpenChange={() => {}} />
    </QueryClientProvider>,
  );
  const file = new File([], "conversations.json", { type: "application/json" });
  // The files of jsdom can't be read.
  Object.assign(file, { text: async () => "PK" });
  await userEvent.upload(screen.getByLabelText("File"), file);
  expect(await screen.findByText(/^This is no JSON file/)).toBeInTheDocument();
});
