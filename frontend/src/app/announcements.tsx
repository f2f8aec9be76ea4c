/** What the operator of the installation has to say, above every page until it is closed. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { dismissAnnouncement, listAnnouncements } from "@/api/account";
import { errorMessage } from "@/api/errors";
import type { Announcement } from "@/api/types";
import { iconButtonClass } from "@/ui/icon-button";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";

const key = ["announcements"];
const MINUTES_5 = 300_000;

export function Announcements() {
  const { data } = useQuery({
    queryKey: key,
    queryFn: listAnnouncements,
    staleTime: MINUTES_5,
    refetchInterval: MINUTES_5,
  });
  if (!data?.length) return null;
  return (
    <section aria-label={t`Announcements`} className="flex flex-col gap-2 px-3 pt-2">
      {data.map((announcement) => (
        <Shown key={announcement.id} announcement={announcement} />
      ))}
    </section>
  );
}

function Shown({ announcement }: { announcement: Announcement }) {
  const { title } = announcement;
  const client = useQueryClient();
  const close = useMutation({
    mutationFn: () => dismissAnnouncement(announcement.id),
    onSuccess: () =>
      client.setQueryData<Announcement[]>(key, (all) =>
        all?.filter(({ id }) => id !== announcement.id),
      ),
    onError: (error) => toast(errorMessage(error)),
  });
  return (
    <Notice
      tone={announcement.tone}
      title={title}
      className="mx-auto w-full max-w-3xl py-2"
      actions={
        announcement.dismissible && (
          <button
            type="button"
            className={iconButtonClass}
            aria-label={t`Close: ${title}`}
            disabled={close.isPending}
            onClick={() => close.mutate()}
          >
            <X aria-hidden className="size-4" />
          </button>
        )
      }
    >
      <span dir="auto">{announcement.text}</span>{" "}
      {announcement.link && (
        <a className="underline" href={announcement.link} rel="noreferrer" target="_blank">
          <Trans>Read more</Trans>
        </a>
      )}
    </Notice>
  );
}
