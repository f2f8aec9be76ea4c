/**
 * The message being written: its text, its files on their way, and how it is sent. Each chat has
 * one (runtime.tsx); what shows it reads its state, what acts on it has the object.
 */
import { t } from "@lingui/core/macro";
import { createContext, use } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { Part } from "@/api/types";
import { AttachmentUploads, type ChosenFile, isAccepted } from "./attachments";

export interface ComposingState {
  text: string;
  files: readonly ChosenFile[];
  /** It is on its way: what is written now is the next one. */
  sending: boolean;
  /** An answer is being written. */
  running: boolean;
  /** What may be attached, as in `accept` of an input; "": nothing. */
  accept: string;
}

export class Composing {
  readonly store = createStore<ComposingState>(() => ({
    text: "",
    files: [],
    sending: false,
    running: false,
    accept: "",
  }));

  readonly uploads = new AttachmentUploads();

  /** Rejects when nothing was sent: what was written is in the composer again then. */
  onSend: (parts: Part[]) => Promise<void> = async () => {};

  onStop: () => Promise<void> = async () => {};

  /** `warn`: where the page shows why nothing was sent. */
  constructor(private readonly warn: (message: string) => void) {}

  get text(): string {
    return this.store.getState().text;
  }

  get isEmpty(): boolean {
    return isEmpty(this.store.getState());
  }

  setText(text: string): void {
    this.store.setState({ text });
  }

  /** Uploads a file; one of a kind that is not accepted is left out. */
  async add(file: File): Promise<void> {
    if (!isAccepted(file, this.store.getState().accept)) return;
    for await (const chosen of this.uploads.add(file)) this.put(chosen);
  }

  /** Shows a file, in the place of an earlier state of it. */
  put(chosen: ChosenFile): void {
    this.store.setState(({ files }) => ({
      files: files.some(({ id }) => id === chosen.id)
        ? files.map((one) => (one.id === chosen.id ? chosen : one))
        : [...files, chosen],
    }));
  }

  remove({ id }: ChosenFile): void {
    this.uploads.remove(id);
    this.store.setState(({ files }) => ({ files: files.filter((one) => one.id !== id) }));
  }

  /** Sends what is written once all its files have arrived. */
  async send(): Promise<void> {
    const { text, files, sending } = this.store.getState();
    if (sending || this.isEmpty) return;
    this.store.setState({ text: "", sending: true });
    await Promise.all(files.map((file) => this.uploads.arrived(file)));
    // One that was removed meanwhile is not sent, and keeps nothing back.
    const still = this.store.getState().files;
    const sent = still.filter(({ id }) => files.some((file) => file.id === id));
    const failed = sent.find((file) => this.uploads.part(file) === null);
    if (failed) {
      const { name } = failed;
      this.warn(t`${name} could not be uploaded. The message was not sent.`);
      this.store.setState((now) => ({ text: now.text.trim() ? now.text : text, sending: false }));
      return;
    }
    this.store.setState({ files: still.filter((file) => !sent.includes(file)), sending: false });
    try {
      await this.onSend(this.uploads.parts(text, sent));
    } catch {
      if (this.isEmpty) this.store.setState({ text, files: sent });
    }
  }
}

const isEmpty = ({ text, files }: ComposingState): boolean => !text.trim() && files.length === 0;

/** Whether there is something to send, and all of it can be. */
export const canSend = (state: ComposingState): boolean =>
  !isEmpty(state) &&
  !state.sending &&
  // A message goes with all its files, or not at all.
  !state.files.some(({ status }) => status.type === "failed");

export const ComposingContext = createContext<Composing | null>(null);

/** The message being written in the chat around. */
export function useComposing(): Composing {
  const composing = use(ComposingContext);
  if (!composing) throw new Error("useComposing needs a ChatRuntime above it");
  return composing;
}

export const useComposingState = <T>(select: (state: ComposingState) => T): T =>
  useStore(useComposing().store, select);
