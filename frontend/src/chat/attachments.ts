/** Files on their way into a message: uploaded as soon as they are chosen, pasted or dropped. */

import type {
  AttachmentAdapter,
  Attachment as ChatAttachment,
  CompleteAttachment,
  CreateAttachment,
  PendingAttachment,
} from "@assistant-ui/react";
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

/** The uploads of one composer, by the ids that they have there. */
class Uploads {
  /** The server's id of each. */
  readonly stored = new Map<string, string>();

  /** Those on their way; they end in `stored`, or not, and never fail. */
  readonly running = new Map<string, Promise<void>>();

  readonly aborts = new Map<string, AbortController>();

  count = 0;
}

export class AttachmentUploads implements AttachmentAdapter {
  /** `warn`: where the page shows why nothing was sent. */
  constructor(
    readonly accept: string,
    private readonly warn: (message: string) => void,
    private readonly all = new Uploads(),
  ) {}

  /** The same uploads under a model that takes other files. */
  accepting(accept: string): AttachmentUploads {
    return new AttachmentUploads(accept, this.warn, this.all);
  }

  async *add({ file }: { file: File }): AsyncGenerator<PendingAttachment, void> {
    const { stored, running, aborts } = this.all;
    this.all.count += 1;
    const attachment = {
      id: `upload-${this.all.count}`,
      type: file.type.startsWith("image/") ? "image" : "document",
      name: file.name,
      contentType: file.type,
      file,
    };
    yield { ...attachment, status: { type: "running", reason: "uploading", progress: 0 } };
    const abort = new AbortController();
    const uploading = postAttachment(file, abort.signal).then((uploaded) => {
      if (!abort.signal.aborted) stored.set(attachment.id, uploaded.id);
    });
    aborts.set(attachment.id, abort);
    running.set(
      attachment.id,
      uploading.catch(() => undefined),
    );
    try {
      await uploading;
      if (abort.signal.aborted) return;
      yield { ...attachment, status: { type: "requires-action", reason: "composer-send" } };
    } catch (error) {
      if (abort.signal.aborted) return;
      const message = errorMessage(error);
      yield { ...attachment, status: { type: "incomplete", reason: "error", message } };
    }
  }

  async remove(attachment: ChatAttachment): Promise<void> {
    this.all.aborts.get(attachment.id)?.abort();
    this.all.aborts.delete(attachment.id);
    this.all.running.delete(attachment.id);
    this.all.stored.delete(attachment.id);
  }

  /**
   * A message that is sent while a file is still on its way waits for it. Where the file is
   * refused, nothing is sent: the composer has everything back, and the file says why.
   */
  async send(attachment: PendingAttachment): Promise<CompleteAttachment> {
    await this.all.running.get(attachment.id);
    if (!this.part(attachment)) {
      const { name } = attachment;
      this.warn(t`${name} could not be uploaded. The message was not sent.`);
      throw new Error(`The upload of ${name} failed`);
    }
    return { ...attachment, status: { type: "complete" }, content: [] };
  }

  /** What is written and attached, as the API takes it; files that have not arrived are no part. */
  parts(text: string, attachments: readonly ChatAttachment[]): Part[] {
    const files = attachments.flatMap((attachment) => this.part(attachment) ?? []);
    return text.trim() ? [{ type: "text", text }, ...files] : files;
  }

  /** The parts of those that are on their way now, as soon as each has arrived. */
  arriving(attachments: readonly ChatAttachment[]): Promise<Part | null>[] {
    return attachments
      .filter((attachment) => attachment.status.type === "running")
      .map((attachment) =>
        Promise.resolve(this.all.running.get(attachment.id)).then(() => this.part(attachment)),
      );
  }

  /** The message part for an attachment of the composer; null for one that failed to upload. */
  part(attachment: ChatAttachment): Part | null {
    // One that was in the message already, and is kept by an edit, has its own id.
    const id = this.all.stored.get(attachment.id) ?? (attachment.file ? null : attachment.id);
    if (id === null) return null;
    const type = attachment.type === "image" ? "image" : "file";
    return { type, attachment_id: id, filename: attachment.name };
  }
}

/** An uploaded file of a message as the composer shows it; null for others. */
export function asAttachment(part: Part): CreateAttachment | null {
  if (part.type !== "image" && part.type !== "file") return null;
  const isImage = part.type === "image";
  return {
    id: part.attachment_id,
    type: isImage ? "image" : "document",
    name: part.filename ?? t({ message: "file", context: "one without a name" }),
    // The model took it when it was chosen: one of its types, whichever it was.
    contentType: isImage ? "image/png" : "text/plain",
    content: [],
  };
}
