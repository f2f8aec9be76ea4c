/** One chat on paper, or as a PDF by the browser's own printing: everything that is shown of it. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Printer } from "lucide-react";
import { useLayoutEffect } from "react";
import { Link, useParams } from "react-router";
import { getConversation } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Conversation } from "@/api/types";
import { useDocumentTitle } from "@/lib/document-title";
import { formatDay } from "@/lib/time";
import { Markdown } from "@/markdown/markdown";
import { Button, buttonClass } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import "@/styles/print.css";

export function PrintPage() {
  const { id = "" } = useParams();
  const chat = useQuery({
    queryKey: ["print", id],
    queryFn: ({ signal }) => wholeConversation(id, signal),
    gcTime: 0,
  });
  useDocumentTitle(chat.data?.title || t`Chat`);
  useLightTheme();
  return (
    <div className="printed h-full overflow-y-auto">
      <header className="mx-auto flex w-full max-w-3xl flex-wrap gap-2 px-4 py-3 md:px-6 print:hidden">
        <Button size="sm" disabled={!chat.data} onClick={() => window.print()}>
          <Printer aria-hidden className="size-4" /> <Trans>Print or save as PDF</Trans>
        </Button>
        <Link to={`/c/${id}`} className={buttonClass("outline", "sm")}>
          <Trans>Back to the chat</Trans>
        </Link>
      </header>
      <main className="mx-auto w-full max-w-3xl px-4 pb-10 md:px-6">
        {chat.isPending ? (
          <Loading />
        ) : chat.isError ? (
          <Notice tone="error">{errorMessage(chat.error)}</Notice>
        ) : (
          <Printed chat={chat.data} />
        )}
      </main>
    </div>
  );
}

function Printed({ chat }: { chat: Conversation }) {
  return (
    <>
      <h1 dir="auto" className="font-semibold text-2xl tracking-tight">
        {chat.title || t`Chat`}
      </h1>
      <p className="border-border border-b pt-1.5 pb-4 text-muted-foreground text-sm">
        {chat.messages[0] && `${formatDay(chat.messages[0].created_at)} · `}
        <bdi>{chat.model}</bdi>
      </p>
      {chat.messages.map((message) => {
        const own = message.role === "user";
        return (
          <article key={message.id} aria-label={own ? t`You` : "Parley"} className="pt-5">
            <h2 className="pb-1 font-semibold text-muted-foreground text-sm">
              {own ? t`You` : message.model || "Parley"}
            </h2>
            {own ? (
              <p dir="auto" className="whitespace-pre-wrap break-words leading-7">
                {message.content}
              </p>
            ) : (
              <Markdown text={message.content} />
            )}
          </article>
        );
      })}
    </>
  );
}

/** All messages of the shown branch, page by page from the newest. */
async function wholeConversation(id: string, signal: AbortSignal): Promise<Conversation> {
  const newest = await getConversation(id, null, signal);
  let { messages, has_more: hasMore } = newest;
  while (hasMore && messages[0]) {
    const older = await getConversation(id, messages[0].id, signal);
    messages = [...older.messages, ...messages];
    hasMore = older.has_more;
  }
  return { ...newest, messages, has_more: false };
}

/** Paper is white, whatever the screen is. */
function useLightTheme(): void {
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    const before = dataset.theme;
    dataset.theme = "light";
    return () => {
      dataset.theme = before;
    };
  }, []);
}
