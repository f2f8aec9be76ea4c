/** The microphone as a recording of 16,000 samples a second, with its loudness meanwhile. */
import { t } from "@lingui/core/macro";
import workletUrl from "./recorder.worklet.js?url";
import { loudness, wavOf } from "./wav";

const RATE = 16_000;

/** Longer than anybody dictates; less than what the server takes. */
export const MAX_SECONDS = 600;

export class Recorder {
  private readonly blocks: Float32Array[] = [];

  private constructor(
    private readonly stream: MediaStream,
    private readonly context: AudioContext,
  ) {}

  /**
   * Asks for the microphone and begins.
   *
   * Throws the browser's DOMException: NotAllowedError, NotFoundError, NotReadableError.
   */
  static async start(onLevel: (level: number, seconds: number) => void): Promise<Recorder> {
    if (!navigator.mediaDevices) throw new DOMException("no microphone", "NotFoundError");
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
    });
    const context = new AudioContext({ sampleRate: RATE });
    const recorder = new Recorder(stream, context);
    try {
      await context.audioWorklet.addModule(workletUrl);
      const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
      node.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
        recorder.blocks.push(data);
        onLevel(loudness(data), recorder.seconds);
      };
      context.createMediaStreamSource(stream).connect(node);
      return recorder;
    } catch (error) {
      recorder.cancel();
      throw error;
    }
  }

  get seconds(): number {
    return this.blocks.reduce((sum, block) => sum + block.length, 0) / RATE;
  }

  /** Ends it; what was recorded. */
  finish(): Blob {
    this.cancel();
    return wavOf(this.blocks, RATE);
  }

  /** Ends it; the microphone is free again. */
  cancel(): void {
    for (const track of this.stream.getTracks()) track.stop();
    if (this.context.state !== "closed") void this.context.close();
  }
}

/** What a person can do about it. */
export function microphoneProblem(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") {
    return t`The microphone is blocked. Allow it in your browser's settings for this site.`;
  }
  if (name === "NotFoundError") return t`No microphone was found. Connect one and try again.`;
  if (name === "NotReadableError") return t`The microphone is in use by another program.`;
  return t`The microphone could not be started.`;
}
