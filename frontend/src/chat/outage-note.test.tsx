import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Model, ModelList } from "@/api/types";
import { OutageNote } from "./outage-note";
import type { ViewMessage } from "./view";

vi.mock("./queries", () => ({
  useModelList: (): ModelList => ({
    data: [{ id: "small", name: "Small one" } as Model],
    pending: [],
  }),
}));

const note = (message: Partial<ViewMessage>) =>
  render(<OutageNote message={{ model: "small", ...message } as ViewMessage} />).container;

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
