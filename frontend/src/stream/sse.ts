/**
 * Server-sent events from bytes: the only place in the page that parses a stream.
 *
 * Bytes come in any split (in the middle of a character, of a CRLF, of a field); each call
 * returns the events that the bytes so far complete. An event without its closing empty line is
 * never returned, as the standard asks, so a broken connection yields no half event.
 * Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream".
 */

export interface SseEvent {
  /** The last `id:` seen on the stream, up to and with this event; "" before the first. */
  id: string;
  type: string;
  data: string;
}

export class SseParser {
  // Drops a leading byte order mark, as the standard asks.
  private readonly decoder = new TextDecoder("utf-8");
  private pending = "";
  private skipLineFeed = false;
  private id = "";
  private type = "";
  private data: string[] = [];

  /** The events that `bytes` complete, in order. */
  feed(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let text = this.decoder.decode(bytes, { stream: true });
    if (this.skipLineFeed && text !== "") {
      if (text.startsWith("\n")) text = text.slice(1);
      this.skipLineFeed = false;
    }
    this.pending += text;
    let start = 0;
    for (;;) {
      const end = indexOfLineEnd(this.pending, start);
      if (end === -1) break;
      const event = this.line(this.pending.slice(start, end));
      if (event) events.push(event);
      const isCarriageReturn = this.pending[end] === "\r";
      start = end + 1;
      if (!isCarriageReturn) continue;
      if (start < this.pending.length) {
        if (this.pending[start] === "\n") start += 1;
      } else {
        // The line has ended; whether "\n" follows is known only with the next bytes.
        this.skipLineFeed = true;
      }
    }
    this.pending = this.pending.slice(start);
    return events;
  }

  private line(line: string): SseEvent | null {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null; // a comment, such as the server's ping
    const field = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.data.push(value);
    else if (field === "event") this.type = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    return null;
  }

  private dispatch(): SseEvent | null {
    const { data, type } = this;
    this.data = [];
    this.type = "";
    if (data.length === 0) return null;
    return { id: this.id, type: type || "message", data: data.join("\n") };
  }
}

function indexOfLineEnd(text: string, from: number): number {
  const lineFeed = text.indexOf("\n", from);
  const carriageReturn = text.indexOf("\r", from);
  if (lineFeed === -1) return carriageReturn;
  if (carriageReturn === -1) return lineFeed;
  return Math.min(lineFeed, carriageReturn);
}

/** Thrown when nothing, not even a ping, has come for longer than the server ever stays silent. */
export class StreamSilent extends Error {
  override readonly name = "StreamSilent";
}

/** The events of a response's body, until it ends; StreamSilent after `silenceMs` without bytes. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<SseEvent> {
  const reader = body.getReader();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await withTimeout(reader.read(), silenceMs);
      if (done) return;
      yield* parser.feed(value);
    }
  } finally {
    // Also reached when the consumer stops early; the connection is of no use to anyone then.
    await reader.cancel().catch(() => undefined);
  }
}

function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StreamSilent(`no bytes for ${ms} ms`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
