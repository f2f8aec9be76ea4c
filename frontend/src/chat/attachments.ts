/** Files on their way into a message: uploaded as soon as they are chosen, pasted or dropped. */

import { t } from "@lingui/core/macro";
import { postAttachment } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Model, Part } from "@/api/types";

const TEXT_TYPES =
  "text/*,application/json,.txt,.md,.csv,.json,.yaml,.yml,.toml,.log,.py,.js,.ts,.tsx,.html,.css,.sql,.sh";
const DOCUMENT_TYPES =
  ".pdf,.docx,.xlsx,.pptx,application/pdf,application/vnd.openxmlformats-officedocument.wordprocessingml.document,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/vnd.openxmlformats-officedocument.presentationml.presentation";
/** Documents and text: what a model reads that sees no images. */
export const FILE_TYPES = `${TEXT_TYPES},${DOCUMENT_TYPES}`;
const IMAGE_TYPES = "image/png,image/jpeg,image/webp,image/gif";

/** Whether it sees images, or is given the text in them. */
const readsImages = ({ capabilities }: Model): boolean =>
  capabilities.includes("vision") || capabilities.includes("ocr");

/** What a file dialog offers for this model; "" where it can read no files at all. */
export function acceptedTypes(model: Model | undefined): string {
  if (!model) return "";
  const accepted: string[] = [];
  if (readsImages(model)) accepted.push(IMAGE_TYPES);
  if (model.capabilities.includes("chat")) accepted.push(FILE_TYPES);
  return accepted.join(",");
}

/** A file of the message being written. */
export interface ChosenFile {
  id: string;
  type: "image" | "document";
  name: string;
  /** Absent: it was in a message before, and is stored. */
  file?: File;
  status: { type: "uploading" } | { type: "uploaded" } | { type: "failed"; message: string };
}

/** Whether a file is one of those that `accept` names, as a file dialog has it. */
export function isAccepted({ name, type }: File, accept: string): boolean {
  const own = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return accept.split(",").some((one) => {
    if (one.startsWith(".")) return name.toLowerCase().endsWith(one);
    return one.endsWith("/*") ? own.startsWith(one.slice(0, -1)) : one !== "" && one === own;
  });
}

/** The uploads of one composer, by the ids that its files have there. */
export class AttachmentUploads {
  /** The server's id of each. */
  private readonly stored = new Map<string, string>();

  /** Those on their way; they end in `stored`, or not, and never fail. */
  private readonly running = new Map<string, Promise<void>>();

  private readonly aborts = new Map<string, AbortController>();

  private count = 0;

  /** Its states, until it has arrived or failed; nothing more once it was removed. */
  async *add(file: File): AsyncGenerator<ChosenFile, void> {
    this.count += 1;
    const chosen = {
      id: `upload-${this.count}`,
      type: file.type.startsWith("image/") ? ("image" as const) : ("document" as const),
      name: file.name,
      file,
    };
    const abort = new AbortController();
    const uploading = postAttachment(file, abort.signal).then((uploaded) => {
      if (!abort.signal.aborted) this.stored.set(chosen.id, uploaded.id);
    });
    this.aborts.set(chosen.id, abort);
    this.running.set(
      chosen.id,
      uploading.catch(() => undefined),
    );
    yield { ...chosen, status: { type: "uploading" } };
    try {
      await uploading;
      if (abort.signal.aborted) return;
      yield { ...chosen, status: { type: "uploaded" } };
    } catch (error) {
      if (abort.signal.aborted) return;
      yield { ...chosen, status: { type: "failed", message: errorMessage(error) } };
    }
  }

  remove(id: string): void {
    this.aborts.get(id)?.abort();
    this.aborts.delete(id);
    this.running.delete(id);
    this.stored.delete(id);
  }

  /** Waits for a file that is still on its way; false where it was refused or removed. */
  async arrived(file: ChosenFile): Promise<boolean> {
    await this.running.get(file.id);
    return this.part(file) !== null;
  }

  /** What is written and attached, as the API takes it; files that have not arrived are no part. */
  parts(text: string, files: readonly ChosenFile[]): Part[] {
    const arrived = files.flatMap((file) => this.part(file) ?? []);
    return text.trim() ? [{ type: "text", text }, ...arrived] : arrived;
  }

  /** The parts of those that are on their way now, as soon as each has arrived. */
  arriving(files: readonly ChosenFile[]): Promise<Part | null>[] {
    return files
      .filter(({ status }) => status.type === "uploading")
      .map((file) => Promise.resolve(this.running.get(file.id)).then(() => this.part(file)));
  }

  /** The message part for a file of the composer; null for one that failed to upload. */
  part(chosen: ChosenFile): Part | null {
    // One that was in the message already, and is kept by an edit, has its own id.
    const id = this.stored.get(chosen.id) ?? (chosen.file ? null : chosen.id);
    if (id === null) return null;
    const type = chosen.type === "image" ? "image" : "file";
    return { type, attachment_id: id, filename: chosen.name };
  }
}

/** An uploaded file of a message as the composer shows it; null for others. */
export function asAttachment(part: Part): ChosenFile | null {
  if (part.type !== "image" && part.type !== "file") return null;
  return {
    id: part.attachment_id,
    type: part.type === "image" ? "image" : "document",
    name: part.filename ?? t({ message: "file", context: "one without a name" }),
    status: { type: "uploaded" },
  };
}
