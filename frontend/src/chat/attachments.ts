/** Files on their way into a message: uploaded as soon as they are chosen, pasted or dropped. */
import type {
  AttachmentAdapter,
  Attachment as ChatAttachment,
  CompleteAttachment,
  PendingAttachment,
} from "@assistant-ui/react";
import { postAttachment } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Model, Part } from "@/api/types";

const TEXT_TYPES =
  "text/*,application/json,.txt,.md,.csv,.json,.yaml,.yml,.toml,.log,.py,.js,.ts,.tsx,.html,.css,.sql,.sh";
const IMAGE_TYPES = "image/png,image/jpeg,image/webp,image/gif";

/** What a file dialog offers for this model; "" where it can read no files at all. */
export function acceptedTypes(model: Model | undefined): string {
  if (!model) return "";
  const accepted: string[] = [];
  if (model.capabilities.includes("vision")) accepted.push(IMAGE_TYPES);
  if (model.capabilities.includes("chat")) accepted.push(TEXT_TYPES);
  return accepted.join(",");
}

export class AttachmentUploads implements AttachmentAdapter {
  /** The server's id of each upload, by the id it has in the composer. */
  private readonly stored = new Map<string, string>();

  /** Those on their way, by the same id; they end in `stored`, or not, and never fail. */
  private readonly running = new Map<string, Promise<void>>();

  private count = 0;

  constructor(readonly accept: string) {}

  async *add({ file }: { file: File }): AsyncGenerator<PendingAttachment, void> {
    this.count += 1;
    const attachment = {
      id: `upload-${this.count}`,
      type: file.type.startsWith("image/") ? "image" : "document",
      name: file.name,
      contentType: file.type,
      file,
    };
    yield { ...attachment, status: { type: "running", reason: "uploading", progress: 0 } };
    const uploading = postAttachment(file).then((uploaded) => {
      this.stored.set(attachment.id, uploaded.id);
    });
    this.running.set(
      attachment.id,
      uploading.catch(() => undefined),
    );
    try {
      await uploading;
      yield { ...attachment, status: { type: "requires-action", reason: "composer-send" } };
    } catch (error) {
      const message = errorMessage(error);
      yield { ...attachment, status: { type: "incomplete", reason: "error", message } };
    }
  }

  async remove(attachment: ChatAttachment): Promise<void> {
    this.running.delete(attachment.id);
    this.stored.delete(attachment.id);
  }

  /** A message that is sent while a file is still on its way waits for it. */
  async send(attachment: PendingAttachment): Promise<CompleteAttachment> {
    await this.running.get(attachment.id);
    return { ...attachment, status: { type: "complete" }, content: [] };
  }

  /** The message part for an attachment of the composer; null for one that failed to upload. */
  part(attachment: ChatAttachment): Part | null {
    // One that was in the message already, and is kept by an edit, has its own id.
    const id = this.stored.get(attachment.id) ?? (attachment.file ? null : attachment.id);
    if (id === null) return null;
    const type = attachment.type === "image" ? "image" : "file";
    return { type, attachment_id: id, filename: attachment.name };
  }
}
