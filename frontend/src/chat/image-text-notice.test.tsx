import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Model, ModelList, Part } from "@/api/types";
import { acceptedTypes } from "./attachments";
import { modelsKey } from "./cache";
import { ImageTextNotice } from "./image-text-notice";

const model = (id: string, ...capabilities: string[]) => ({ id, capabilities }) as Model;
const BLIND = model("blind", "chat", "ocr");
const SEEING = model("seeing", "chat", "vision");

const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
client.setQueryData<ModelList>(modelsKey, { data: [BLIND, SEEING], pending: [] });

const IMAGE: Part = { type: "image", attachment_id: "1", filename: "page.png" };
const notice = (parts: Part[], by: string | null) =>
  render(
    <QueryClientProvider client={client}>
      <ImageTextNotice parts={parts} model={by} />
    </QueryClientProvider>,
  ).container;

it("says that a model was given the text in an image", () => {
  notice([IMAGE], "blind");
  expect(screen.getByText(/read by OCR/)).toBeInTheDocument();
});

it("says nothing of a model that sees, of a message without images, or before an answer", () => {
  expect(notice([IMAGE], "seeing")).toBeEmptyDOMElement();
  expect(notice([{ type: "text", text: "Hello" }], "blind")).toBeEmptyDOMElement();
  expect(notice([IMAGE], null)).toBeEmptyDOMElement();
});

it("offers images where they are seen or read", () => {
  expect(acceptedTypes(BLIND)).toContain("image/png");
  expect(acceptedTypes(SEEING)).toContain("image/png");
  expect(acceptedTypes(model("plain", "chat"))).not.toContain("image/png");
});
