import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { MemoryRouter, Route, Routes } from "react-router";
import { expect, it } from "vitest";
import type { Message, Part, ToolCall } from "@/api/types";
import { toolCallsKey } from "./cache";
import type { ViewMessage } from "./view";
import { callsBefore, webSources, webTitle } from "./web-calls";
import { WebSources } from "./web-sources";

const FERRIES = { title: "Ferries", url: "https://ferries.example/today" };

const call = (known: Partial<ToolCall>): ToolCall => ({
  id: "1",
  message_id: "m",
  call_id: "c1",
  server: "Web",
  tool: "Search the web",
  web: "search",
  of_page: false,
  withheld: false,
  withheld_in_part: false,
  status: "done",
  arguments: '{"query": "ferry times"}',
  result: "",
  sources: [FERRIES],
  decision: "policy",
  may_always: true,
  is_current: false,
  goes_on: false,
  ...known,
});

const message = (role: Message["role"], parts: Part[]): ViewMessage =>
  ({ id: "m", role, parts, live: null }) as unknown as ViewMessage;

function shown(calls: ToolCall[], readFrom = "c1") {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(toolCallsKey("chat"), { data: calls });
  return render(
    <QueryClientProvider client={client}>
      <MemoryRouter initialEntries={["/c/chat"]}>
        <Routes>
          <Route path="/c/:id" element={<WebSources readFrom={readFrom} />} />
        </Routes>
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

it("links to pages by http and https alone", () => {
  const urls = [
    "javascript:alert(1)",
    "JavaScript:alert(1)//https://ferries.example/",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//ferries.example/today",
    "ferries.example",
    "",
  ];
  const sources = urls.map((url) => ({ title: "Click me", url }));
  expect(webSources([call({ sources })])).toEqual([]);
  shown([call({ sources: [...sources, FERRIES] })]);
  const [link, ...more] = screen.getAllByRole("link");
  expect(more).toEqual([]);
  expect(link).toHaveAttribute("href", FERRIES.url);
  expect(link).toHaveAttribute("target", "_blank");
  expect(link?.getAttribute("rel")?.split(" ")).toEqual(
    expect.arrayContaining(["noopener", "noreferrer"]),
  );
});

it("shows a title as the text that it is", () => {
  const title = '<img src=x onerror="alert(1)"><b>Ferries</b> [x](javascript:alert(1))';
  shown([call({ sources: [{ ...FERRIES, title }] })]);
  expect(screen.getByText(title)).toBeInTheDocument();
  expect(document.querySelector("img, b, script")).toBeNull();
  expect(screen.getByText("ferries.example")).toBeInTheDocument();
});

it("names each page once, those that were read first", () => {
  const read = { title: "Read", url: "https://read.example/" };
  const found = call({ sources: [FERRIES, { ...FERRIES, title: "Again" }, read] });
  const opened = call({ call_id: "c2", web: "fetch", sources: [read] });
  expect(webSources([found, opened]).map(({ title }) => title)).toEqual(["Read", "Ferries"]);
});

it("names the pages of its own calls, and the host where there is no title", () => {
  const other = call({
    call_id: "c9",
    sources: [{ title: "Other", url: "https://other.example" }],
  });
  shown([call({ sources: [{ ...FERRIES, title: " " }] }), other]);
  expect(screen.getAllByText("ferries.example")).toHaveLength(2);
  expect(screen.queryByText("Other")).toBeNull();
});

it("shows nothing where no page was found", () => {
  shown([call({ sources: [] })]);
  expect(screen.queryByRole("region")).toBeNull();
});

it("says what a call of the web does and has done", () => {
  expect(webTitle(call({}))).toBe("Searched the web for “ferry times”");
  expect(webTitle(call({ status: "running" }))).toBe("Searching the web for “ferry times”");
  expect(webTitle(call({ status: "failed" }))).toBe("Search the web for “ferry times”");
  const fetched = { web: "fetch", arguments: '{"url": "https://ferries.example/a?b"}' } as const;
  expect(webTitle(call(fetched))).toBe("Read ferries.example");
  for (const broken of ["", "[]", "null", '{"query": 3}', '{"url": "javascript:x"}']) {
    expect(webTitle(call({ arguments: broken }))).toBe("Searched the web");
    expect(webTitle(call({ web: "fetch", arguments: broken }))).toBe("Read a page");
  }
  expect(webTitle(call({ web: null }))).toBeNull();
});

it("finds the calls of all rounds before an answer, back to its prompt", () => {
  const output = (id: string): Part => ({ type: "call_output", call_id: id, output: "" });
  const asked = message("user", [{ type: "text", text: "When?" }]);
  const calls = message("assistant", []);
  const thread = [
    asked,
    calls,
    message("user", [output("c1"), output("c2")]),
    calls,
    message("user", [output("c3")]),
    message("assistant", [{ type: "text", text: "At noon." }]),
    asked,
    message("assistant", []),
  ];
  const found = thread.map((_, index) => callsBefore(thread, index));
  expect(found).toEqual(["", "", "", "c1 c2", "", "c1 c2 c3", "", ""]);
});
