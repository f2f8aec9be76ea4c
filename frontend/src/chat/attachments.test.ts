import { afterEach, expect, it, vi } from "vitest";
import { AttachmentUploads } from "./attachments";

afterEach(() => vi.unstubAllGlobals());

/** A file just chosen, whose upload ends when `answer` is called. */
async function choose() {
  let answer: (response: Response) => void = () => undefined;
  const response = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  vi.stubGlobal("fetch", () => response);
  const warn = vi.fn();
  const uploads = new AttachmentUploads("text/*", warn);
  const states = uploads.add({
    file: new File(["High tide"], "tides.txt", { type: "text/plain" }),
  });
  const { value: chosen } = await states.next();
  if (!chosen) throw new Error("the upload did not begin");
  const ended = states.next();
  return { uploads, chosen, ended, answer, warn };
}

it("keeps a message that is sent early until its file has arrived", async () => {
  const { uploads, chosen, ended, answer } = await choose();
  const sent = vi.fn();
  const sending = uploads.send(chosen).then(sent);
  await new Promise((resolve) => setTimeout(resolve));
  expect(sent).not.toHaveBeenCalled();

  answer(Response.json({ id: "stored-1" }, { status: 201 }));
  await sending;
  expect(uploads.part(chosen)).toEqual({
    type: "file",
    attachment_id: "stored-1",
    filename: "tides.txt",
  });
  expect((await ended).value?.status.type).toBe("requires-action");
});

it("sends no message without a file that was refused, and says why", async () => {
  const { uploads, chosen, ended, answer, warn } = await choose();
  const sending = uploads.send(chosen);
  answer(Response.json({ error: { message: "The file is empty." } }, { status: 400 }));
  await expect(sending).rejects.toThrow("tides.txt");
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("tides.txt could not be uploaded"));
  expect(uploads.part(chosen)).toBeNull();
  expect((await ended).value?.status).toMatchObject({ message: "The file is empty." });
});

it("keeps an upload when the model changes to one that takes other files", async () => {
  let stored = 0;
  vi.stubGlobal("fetch", async () => {
    stored += 1;
    return Response.json({ id: `stored-${stored}` }, { status: 201 });
  });
  const upload = async (uploads: AttachmentUploads, name: string) => {
    const states = uploads.add({ file: new File(["x"], name, { type: "text/plain" }) });
    const { value: chosen } = await states.next();
    await states.next();
    if (!chosen) throw new Error("the upload did not begin");
    return chosen;
  };
  const before = new AttachmentUploads("text/*", () => undefined);
  const first = await upload(before, "a.txt");
  const after = before.accepting("image/png");
  const second = await upload(after, "b.txt");
  expect(after.accept).toBe("image/png");
  expect(after.part(first)).toMatchObject({ attachment_id: "stored-1" });
  expect(after.part(second)).toMatchObject({ attachment_id: "stored-2" });
});

it("ends an upload that is removed, and leaves it removed", async () => {
  let signal: AbortSignal | null | undefined;
  vi.stubGlobal("fetch", (_: string, options: RequestInit) => {
    signal = options.signal;
    return new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    });
  });
  const uploads = new AttachmentUploads("text/*", () => undefined);
  const states = uploads.add({ file: new File(["x"], "a.txt", { type: "text/plain" }) });
  const { value: chosen } = await states.next();
  const ended = states.next();
  if (chosen) await uploads.remove(chosen);
  expect(signal?.aborted).toBe(true);
  expect(await ended).toEqual({ value: undefined, done: true });
});
