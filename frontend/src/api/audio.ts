/** Speech to text and text to speech. */
import { api, request } from "./client";

/** Samples a second of what `postSpeech` gives. */
export const SPEECH_RATE = 24_000;

export async function postTranscription(
  recording: Blob,
  model: string,
  signal: AbortSignal,
): Promise<string> {
  const body = new FormData();
  body.set("file", recording, "dictation.wav");
  body.set("model", model);
  const heard = await api<{ text: string }>("/api/audio/transcriptions", {
    method: "POST",
    body,
    signal,
  });
  return heard.text;
}

/** `text` spoken: 16-bit PCM. */
export async function postSpeech(
  text: string,
  model: string,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await request("/api/audio/speech", {
    method: "POST",
    body: { model, input: text, voice: "default", response_format: "pcm" },
    signal,
  });
  return response.arrayBuffer();
}
