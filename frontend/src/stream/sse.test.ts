import { describe, expect, it } from "vitest";
import { readSse, type SseEvent, SseParser, StreamSilent } from "./sse";

const encode = (text: string) => new TextEncoder().encode(text);

const STREAM =
  '\uFEFFid: 1\ndata: {"text":"Grüße 👋🏽"}\n\n' +
  ": ping\n\n" +
  "id: 2\r\nevent: note\r\ndata: first\r\ndata: second\r\n\r\n" +
  "id: 3\rdata:no space\r\r" +
  "retry: 10\nid\ndata\n\n" +
  "id: 4\ndata: [DONE]\n\n" +
  "id: 5\ndata: never closed";

const EXPECTED: SseEvent[] = [
  { id: "1", type: "message", data: '{"text":"Grüße 👋🏽"}' },
  { id: "2", type: "note", data: "first\nsecond" },
  { id: "3", type: "message", data: "no space" },
  { id: "", type: "message", data: "" },
  { id: "4", type: "message", data: "[DONE]" },
];

function parse(...chunks: Uint8Array[]): SseEvent[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.feed(chunk));
}

describe("SseParser", () => {
  const bytes = encode(STREAM);

  it("reads a stream that comes in one piece", () => {
    expect(parse(bytes)).toEqual(EXPECTED);
  });

  it("reads the same events from every split in two", () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(parse(bytes.slice(0, at), bytes.slice(at)), `split at ${at}`).toEqual(EXPECTED);
    }
  });

  it("reads the same events from every split in three", () => {
    for (let first = 0; first <= bytes.length; first += 3) {
      for (let second = first; second <= bytes.length; second += 1) {
        const chunks = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
        expect(parse(...chunks), `splits at ${first}, ${second}`).toEqual(EXPECTED);
      }
    }
  });

  it("reads the same events byte by byte, with empty chunks between", () => {
    const chunks = Array.from(bytes, (byte) => [Uint8Array.of(byte), new Uint8Array()]).flat();
    expect(parse(...chunks)).toEqual(EXPECTED);
  });

  it("ignores an id with NUL and a field that it does not know", () => {
    expect(parse(encode("id: 7\n\ndata: x\nid: 8\0\nfoo: bar\n\n"))).toEqual([
      { id: "7", type: "message", data: "x" },
    ]);
  });
});

describe("readSse", () => {
  it("ends with the body and drops the unfinished event", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encode("data: a\n\ndata: b"));
        controller.close();
      },
    });
    const events: string[] = [];
    for await (const event of readSse(body, 1000)) events.push(event.data);
    expect(events).toEqual(["a"]);
  });

  it("gives up on a line that has gone silent, and cancels it", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    await expect(readSse(body, 5).next()).rejects.toThrow(StreamSilent);
    expect(cancelled).toBe(true);
  });
});
