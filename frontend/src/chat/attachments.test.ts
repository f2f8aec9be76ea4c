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
  const uploads = new AttachmentUploads("text/*");
  const states = uploads.add({
    file: new File(["High tide"], "tides.txt", { type: "text/plain" }),
  });
  const { value: chosen } = await states.next();
  if (!chosen) throw new Error("the upload did not begin");
  const ended = states.next();
  return { uploads, chosen, ended, answer };
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

it("lets a message go without a file that was refused, and says why", async () => {
  const { uploads, chosen, ended, answer } = await choose();
  const sending = uploads.send(chosen);
  answer(Response.json({ error: { message: "The file is empty." } }, { status: 400 }));
  await sending;
  expect(uploads.part(chosen)).toBeNull();
  expect((await ended).value?.status).toMatchObject({ message: "The file is empty." });
});
