import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { Model, Part } from "@/api/types";
import { Composer } from "./composer";
import { forgetDrafts } from "./drafts";
import { ChatRuntime } from "./runtime";

const model = { id: "m", capabilities: ["chat"] } as Model;
const send = vi.fn<(parts: Part[]) => Promise<void>>(async () => {});
const stop = vi.fn(async () => {});
const warn = vi.fn();
const input = () => screen.getByLabelText<HTMLTextAreaElement>("Message");
const tides = new File(["High tide"], "tides.txt", { type: "text/plain" });

function chat(running = false) {
  return (
    <QueryClientProvider client={new QueryClient()}>
      <ChatRuntime draftOf="a" running={running} model={model} send={send} stop={stop} warn={warn}>
        <Composer web={null} />
      </ChatRuntime>
    </QueryClientProvider>
  );
}

/** The uploads of files end when `end` is called, each with `answer`. */
function uploads(answer: () => Response) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  vi.stubGlobal("fetch", (path: string) =>
    path === "/api/attachments" ? ended.then(answer) : Response.json({ data: [], pending: [] }),
  );
  return end;
}

const attach = (...files: File[]) =>
  fireEvent.paste(input(), { clipboardData: { files, getData: () => "" } });

beforeEach(() => {
  vi.clearAllMocks();
  sessionStorage.clear();
  forgetDrafts();
  uploads(() => Response.json({ id: "stored" }, { status: 201 }));
});

it("Enter sends, Shift+Enter breaks the line", async () => {
  render(chat());
  expect(input()).toHaveFocus();
  await userEvent.keyboard("one{Shift>}{Enter}{/Shift}two");
  expect(send).not.toHaveBeenCalled();
  await userEvent.keyboard("{Enter}");
  expect(send.mock.calls).toEqual([[[{ type: "text", text: "one\ntwo" }]]]);
  expect(input()).toHaveValue("");
});

it("Enter sends nothing while letters are being composed, nor on a phone, nor without words", async () => {
  render(chat());
  await userEvent.keyboard("  {Enter}");
  await userEvent.keyboard("word");
  fireEvent.keyDown(input(), { key: "Enter", isComposing: true });
  vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList);
  await userEvent.keyboard("{Enter}");
  expect(send).not.toHaveBeenCalled();
  expect(input()).toHaveValue("  word\n");
});

it("while an answer is written Enter sends nothing, and the button stops it", async () => {
  render(chat(true));
  await userEvent.keyboard("next{Enter}");
  expect(send).not.toHaveBeenCalled();
  expect(screen.queryByRole("button", { name: "Send" })).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(stop).toHaveBeenCalledOnce();
});

it("a message waits for its file, and what is written meanwhile stays", async () => {
  const end = uploads(() => Response.json({ id: "stored-1" }, { status: 201 }));
  render(chat());
  attach(tides);
  expect(await screen.findByText("tides.txt")).toBeInTheDocument();
  await userEvent.keyboard("Read this{Enter}and that");
  expect(send).not.toHaveBeenCalled();
  await act(async () => end());
  await waitFor(() => expect(send).toHaveBeenCalledOnce());
  expect(send.mock.calls[0]?.[0]).toEqual([
    { type: "text", text: "Read this" },
    { type: "file", attachment_id: "stored-1", filename: "tides.txt" },
  ]);
  expect(input()).toHaveValue("and that");
  expect(screen.queryByText("tides.txt")).toBeNull();
});

it("a message whose file is refused is in the composer again, and cannot be sent with it", async () => {
  const end = uploads(() => Response.json({ error: { message: "It is empty." } }, { status: 400 }));
  render(chat());
  attach(tides);
  await userEvent.keyboard("Read this{Enter}");
  await act(async () => end());
  await waitFor(() => expect(input()).toHaveValue("Read this"));
  expect(warn).toHaveBeenCalledOnce();
  expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
  await userEvent.click(screen.getByRole("button", { name: "Remove tides.txt" }));
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  await waitFor(() => expect(send).toHaveBeenCalledWith([{ type: "text", text: "Read this" }]));
});

it("a file that is removed while its message waits for it is not sent", async () => {
  const end = uploads(() => Response.json({ id: "stored-1" }, { status: 201 }));
  render(chat());
  attach(tides, new File(["Low"], "low.txt", { type: "text/plain" }));
  await userEvent.keyboard("Read this{Enter}");
  await userEvent.click(await screen.findByRole("button", { name: "Remove low.txt" }));
  await act(async () => end());
  await waitFor(() => expect(send).toHaveBeenCalledOnce());
  expect(send.mock.calls[0]?.[0]).toEqual([
    { type: "text", text: "Read this" },
    { type: "file", attachment_id: "stored-1", filename: "tides.txt" },
  ]);
  expect(warn).not.toHaveBeenCalled();
});

it("files can be dropped, of the kinds that the model takes", async () => {
  uploads(() => Response.json({ id: "stored-1" }, { status: 201 }))();
  render(chat());
  const photo = new File(["x"], "photo.png", { type: "image/png" });
  const dataTransfer = { types: ["Files"], files: [tides, photo] };
  const zone = input().closest("form")?.lastElementChild as HTMLElement;
  fireEvent.dragEnter(zone, { dataTransfer });
  expect(zone).toHaveAttribute("data-dragging", "true");
  expect(fireEvent.drop(zone, { dataTransfer })).toBe(false);
  expect(await screen.findByText("tides.txt")).toBeInTheDocument();
  expect(screen.queryByText("photo.png")).toBeNull();
  expect(zone).not.toHaveAttribute("data-dragging");
});

it("a message that was not sent is back with its files, unless something else was written", async () => {
  send.mockRejectedValueOnce(new Error("refused"));
  render(chat());
  await userEvent.keyboard("one{Enter}");
  await waitFor(() => expect(input()).toHaveValue("one"));
});
