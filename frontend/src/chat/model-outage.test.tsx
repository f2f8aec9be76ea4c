import { render as renderAlone, screen } from "@testing-library/react";
import type { ReactElement } from "react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import type { Model } from "@/api/types";
import { ModelOutage } from "./model-outage";

const render = (element: ReactElement) => renderAlone(<MemoryRouter>{element}</MemoryRouter>);
const model = (name: string, status: string) => ({ id: name, name, status }) as Model;

it("is silent while the model answers", () => {
  const small = model("Small", "ready");
  render(<ModelOutage model={small} models={[small]} />);
  expect(screen.queryByRole("status")).toBeNull();
});

it("names a model that can answer", () => {
  const large = model("Large", "unavailable");
  render(<ModelOutage model={large} models={[large, model("Small", "ready")]} />);
  expect(screen.getByRole("status")).toHaveTextContent("Large can't answer at the moment");
  expect(screen.getByRole("status")).toHaveTextContent("Choose Small above");
});

it("says what works when no model does", () => {
  const only = model("Small", "unavailable");
  render(<ModelOutage model={only} models={[only]} />);
  expect(screen.getByRole("status")).toHaveTextContent("your chats, files, usage and settings");
});

it("says that a model is loading", () => {
  const large = model("Large", "loading");
  render(<ModelOutage model={large} models={[large, model("Small", "ready")]} />);
  expect(screen.getByRole("status")).toHaveTextContent("Large is loading");
});
