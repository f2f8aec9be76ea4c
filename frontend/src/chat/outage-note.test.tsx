import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Model, ModelList } from "@/api/types";
import { modelsKey } from "./cache";
import { OutageNote } from "./outage-note";
import type { ViewMessage } from "./view";

const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
client.setQueryData<ModelList>(modelsKey, {
  data: [{ id: "small", name: "Small one" } as Model],
  pending: [],
});

const note = (message: Partial<ViewMessage>) =>
  render(
    <QueryClientProvider client={client}>
      <OutageNote message={{ model: "small", ...message } as ViewMessage} />
    </QueryClientProvider>,
  ).container;

it("says that an answer is a stored one", () => {
  note({ from_outage: true, read_in_part: false });
  expect(screen.getByText(/the stored answer to the same question/)).toBeInTheDocument();
});

it("says which model read only a part", () => {
  note({ from_outage: false, read_in_part: true });
  expect(screen.getByText(/Small one.*newest part of this chat/)).toBeInTheDocument();
});

it("says nothing of any other answer", () => {
  expect(note({ from_outage: false, read_in_part: false })).toBeEmptyDOMElement();
});
