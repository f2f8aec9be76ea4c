/**
 * Reading an answer aloud: sentence by sentence, also while it is still being written. One answer
 * at a time; the next sentence is asked for while one is heard.
 */
import { t } from "@lingui/core/macro";
import { create } from "zustand";
import { postSpeech, SPEECH_RATE } from "@/api/audio";
import { errorMessage } from "@/api/errors";
import { toast } from "@/ui/toast";
import { sentencesOf } from "./sentences";

/** Which answer is read, by its generation or message; null: none. */
interface Reading {
  key: string | null;
}

export const useReading = create<Reading>(() => ({ key: null }));

/** The longest text that the server speaks at once. */
const MAX_CHARACTERS = 4_096;

class Reader {
  private sentences: string[] = [];
  private said = 0;
  private done = false;
  private wake: () => void = () => undefined;
  private readonly abort = new AbortController();
  private readonly context = new AudioContext();

  constructor(private readonly model: string) {}

  /** The text as it is now. */
  follow(text: string, done: boolean): void {
    this.sentences = sentencesOf(text, done);
    this.done = done;
    this.wake();
  }

  /** Until all is said, or it is stopped. */
  async run(): Promise<void> {
    let endsAt = 0;
    for (;;) {
      const sentence = await this.next();
      if (sentence === null) break;
      const sound = await postSpeech(
        sentence.slice(0, MAX_CHARACTERS),
        this.model,
        this.abort.signal,
      );
      endsAt = this.play(new Int16Array(sound), endsAt);
      // One sentence ahead of what is heard, and no more: who stops has not paid for the rest.
      await this.pause(endsAt - this.context.currentTime - 1.5);
    }
    await this.pause(endsAt - this.context.currentTime);
  }

  stop(): void {
    this.abort.abort();
    this.wake();
    if (this.context.state !== "closed") void this.context.close();
  }

  private async next(): Promise<string | null> {
    while (this.said >= this.sentences.length && !this.done) {
      this.abort.signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    this.abort.signal.throwIfAborted();
    return this.sentences[this.said++] ?? null;
  }

  /** Plays after what is still to be heard; when it will have ended. */
  private play(samples: Int16Array, after: number): number {
    if (samples.length === 0) return after;
    const buffer = this.context.createBuffer(1, samples.length, SPEECH_RATE);
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 0x8000),
      0,
    );
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.context.destination);
    const from = Math.max(after, this.context.currentTime);
    source.start(from);
    return from + buffer.duration;
  }

  private async pause(seconds: number): Promise<void> {
    if (seconds <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.abort.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.abort.signal.throwIfAborted();
  }
}

let reader: Reader | null = null;

/** Reads an answer; another one that is being read ends. */
export function startReading(key: string, model: string, text: string, done: boolean): void {
  stopReading();
  const mine = new Reader(model);
  reader = mine;
  useReading.setState({ key });
  mine.follow(text, done);
  mine
    .run()
    .catch((error: unknown) => {
      if (reader !== mine) return;
      const problem = errorMessage(error);
      toast(t`It could not be read aloud: ${problem}`);
    })
    .finally(() => {
      if (reader === mine) stopReading();
    });
}

export function stopReading(): void {
  const stopped = reader;
  reader = null;
  useReading.setState({ key: null });
  stopped?.stop();
}

/** What has come of the answer that is being read. */
export function followReading(key: string, text: string, done: boolean): void {
  if (useReading.getState().key === key) reader?.follow(text, done);
}
