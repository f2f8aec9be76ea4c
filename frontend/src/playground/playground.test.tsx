import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { modelsKey } from "@/chat/cache";
import { bodyOf, codeOf, EMPTY } from "./body";
import { PlaygroundPage } from "./playground";
import { costOf } from "./run";

const prices = {
  input: "0.1",
  cached_input: "0.05",
  image: "0.4",
  output: "0.2",
  reasoning: "0.3",
  cached_output: "0.02",
};
const model = {
  id: "small",
  name: "Small",
  context_window: 100,
  max_output_tokens: 10,
  capabilities: ["chat"],
  prices,
  status: "ready",
  license: "",
  notice: "",
};
const CHUNKS = [
  { choices: [{ delta: { role: "assistant", content: "" }, finish_reason: null }] },
  { choices: [{ delta: { reasoning_content: "Hm." }, finish_reason: null }] },
  {
    choices: [
      {
        delta: { content: "Hello" },
        finish_reason: null,
        logprobs: { content: [{ token: "Hello", logprob: -0.1, top_logprobs: [] }] },
      },
    ],
  },
  { choices: [{ delta: {}, finish_reason: "stop" }] },
  { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } },
];

describe("the playground", () => {
  const fetchMock = vi.fn<typeof fetch>();

  beforeEach(() => {
    const events = CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    fetchMock.mockImplementation(async () => new Response(`${events}data: [DONE]\n\n`));
    vi.stubGlobal("fetch", fetchMock);
  });
  afterEach(() => void vi.unstubAllGlobals());

  it("streams an answer with its thought, tokens, time and cost", async () => {
    const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
    client.setQueryData(modelsKey, { data: [model], pending: [] });
    render(
      <QueryClientProvider client={client}>
        <MemoryRouter>
          <PlaygroundPage />
        </MemoryRouter>
      </QueryClientProvider>,
    );
    await userEvent.type(screen.getByLabelText("Prompt"), "Hi");
    await userEvent.click(screen.getByRole("button", { name: "Run" }));
    expect(await screen.findByText("Hello")).toBeInTheDocument();
    expect(screen.getByText("Hm.")).toBeInTheDocument();
    expect(screen.getByText("90.5 %")).toBeInTheDocument();
    expect(await screen.findByText("$0.002000")).toBeInTheDocument();
    const [path, sent] = fetchMock.mock.calls[0] ?? [];
    expect(path).toBe("/api/chat/completions");
    expect(JSON.parse(String(sent?.body))).toMatchObject({ model: "small", stream: true });
  });

  it("says which field is no JSON", () => {
    expect(() => bodyOf({ ...EMPTY, tools: "[" })).toThrow("Tools");
  });

  it("writes the request as a program", () => {
    const body = bodyOf({ ...EMPTY, model: "small", prompt: "It's", logprobs: true });
    const origin = "https://parley.example";
    expect(codeOf("python", body, origin)).toContain('"logprobs": True,');
    expect(codeOf("python", body, origin)).toContain('base_url="https://parley.example/v1"');
    expect(codeOf("typescript", body, origin)).toContain('"content": "It\'s"');
    expect(codeOf("curl", body, origin)).toContain("It'\\''s");
  });

  it("prices cached input, images, thoughts and reused output by themselves", () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 500, image_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 200, cached_tokens: 300 },
    };
    expect(costOf(usage, prices)).toBeCloseTo(0.04 + 0.025 + 0.04 + 0.1 + 0.06 + 0.006);
  });
});
