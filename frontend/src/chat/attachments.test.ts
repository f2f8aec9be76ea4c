import { afterEach, expect, it, vi } from "vitest";
import type { Model } from "@/api/types";
import { AttachmentUploads, acceptedTypes, isAccepted } from "./attachments";

afterEach(() => vi.unstubAllGlobals());

/** A file just chosen, whose upload ends when `answer` is called. */
async function choose() {
  let answer: (response: Response) => void = () => undefined;
  const response = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  vi.stubGlobal("fetch", () => response);
  const uploads = new AttachmentUploads();
  const states = uploads.add(new File(["High tide"], "tides.txt", { type: "text/plain" }));
  const { value: chosen } = await states.next();
  if (!chosen) throw new Error("the upload did not begin");
  const ended = states.next();
  return { uploads, chosen, ended, answer };
}

it("waits for a file that is still on its way", async () => {
  const { uploads, chosen, ended, answer } = await choose();
  const said = vi.fn();
  const arriving = uploads.arrived(chosen).then(said);
  await new Promise((resolve) => setTimeout(resolve));
  expect(said).not.toHaveBeenCalled();

  answer(Response.json({ id: "stored-1" }, { status: 201 }));
  await arriving;
  expect(said).toHaveBeenCalledWith(true);
  expect(uploads.part(chosen)).toEqual({
    type: "file",
    attachment_id: "stored-1",
    filename: "tides.txt",
  });
  expect((await ended).value?.status.type).toBe("uploaded");
});

it("says of a file that was refused why", async () => {
  const { uploads, chosen, ended, answer } = await choose();
  answer(Response.json({ error: { message: "The file is empty." } }, { status: 400 }));
  expect(await uploads.arrived(chosen)).toBe(false);
  expect(uploads.part(chosen)).toBeNull();
  expect((await ended).value?.status).toMatchObject({ message: "The file is empty." });
});

it.each([
  ["notes.md", "", true],
  ["NOTES.TXT", "", true],
  ["a.csv", "text/csv; charset=utf-8", true],
  ["photo.png", "image/png", false],
  ["program.exe", "application/x-msdownload", false],
])("a model without sight takes %s: %s %s", (name, type, taken) => {
  const accept = acceptedTypes({ capabilities: ["chat"] } as Model);
  expect(isAccepted(new File(["x"], name, { type }), accept)).toBe(taken);
  expect(isAccepted(new File(["x"], name, { type }), "")).toBe(false);
});

it("ends an upload that is removed, and leaves it removed", async () => {
  let signal: AbortSignal | null | undefined;
  vi.stubGlobal("fetch", (_: string, options: RequestInit) => {
    signal = options.signal;
    return new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    });
  });
  const uploads = new AttachmentUploads();
  const states = uploads.add(new File(["x"], "a.txt", { type: "text/plain" }));
  const { value: chosen } = await states.next();
  const ended = states.next();
  if (chosen) uploads.remove(chosen.id);
  expect(signal?.aborted).toBe(true);
  expect(await ended).toEqual({ value: undefined, done: true });
});
