import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { type ChangeEvent, useRef } from "react";
import { postAttachment } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { SharedFile } from "@/api/types";
import { FILE_TYPES } from "@/chat/attachments";
import { readableSize } from "@/lib/sizes";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { ListRow } from "./paged-list";
import { useChange } from "./use-change";

interface FilesListProps {
  queryKey: readonly unknown[];
  load: () => Promise<SharedFile[]>;
  /** Null: the files are only read. `add` takes the id of an upload. */
  change: {
    add: (id: string) => Promise<SharedFile>;
    remove: (id: string) => Promise<void>;
  } | null;
  empty: string;
}

/** Files that the model reads in many chats: uploaded, listed with their sizes, removed. */
export function FilesList({ queryKey, load, change, empty }: FilesListProps) {
  const files = useQuery({ queryKey, queryFn: load });
  if (files.isPending) return <Loading />;
  if (!files.data) return <Notice tone="error">{errorMessage(files.error)}</Notice>;
  return (
    <>
      {change && <AddFiles queryKey={queryKey} add={change.add} />}
      {files.data.length === 0 && <p className="text-muted-foreground text-sm">{empty}</p>}
      {files.data.length > 0 && (
        <ul
          aria-label={t`Files`}
          className="flex flex-col overflow-hidden rounded-2xl border border-border"
        >
          {files.data.map((file) => (
            <ListRow
              key={file.id}
              title={
                <a href={`/api/attachments/${file.id}`} className="hover:underline">
                  {file.filename}
                </a>
              }
              note={readableSize(file.size)}
            >
              {change && <RemoveFile queryKey={queryKey} file={file} remove={change.remove} />}
            </ListRow>
          ))}
        </ul>
      )}
    </>
  );
}

function AddFiles(props: {
  queryKey: readonly unknown[];
  add: (id: string) => Promise<SharedFile>;
}) {
  const field = useRef<HTMLInputElement>(null);
  const add = useChange(props.queryKey, async (file: File) =>
    props.add((await postAttachment(file)).id),
  );
  const take = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const chosen = [...(target.files ?? [])];
    target.value = "";
    // One after the other: what is refused is said of each, and the others are taken.
    for (const file of chosen) await add.mutateAsync(file).catch(() => undefined);
  };
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        accept={FILE_TYPES}
        aria-label={t`Files`}
        onChange={(event) => void take(event)}
      />
      <Button
        variant="outline"
        size="sm"
        className="self-start"
        busy={add.isPending}
        onClick={() => field.current?.click()}
      >
        <Upload className="size-4" />
        <Trans>Add files</Trans>
      </Button>
    </>
  );
}

function RemoveFile(props: {
  queryKey: readonly unknown[];
  file: SharedFile;
  remove: (id: string) => Promise<void>;
}) {
  const { filename: name, id } = props.file;
  const remove = useChange(props.queryKey, props.remove);
  return (
    <Button
      variant="outline"
      size="sm"
      aria-label={t`Remove ${name}`}
      busy={remove.isPending}
      onClick={() => remove.mutate(id)}
    >
      <Trans>Remove</Trans>
    </Button>
  );
}
