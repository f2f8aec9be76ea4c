import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "react-router";
import { copyShared, getShared } from "@/api/conversations";
import { ApiError, errorMessage } from "@/api/errors";
import type { SharedConversation } from "@/api/types";
import { CopyButton } from "@/chat/copy-button";
import { useDocumentTitle } from "@/lib/document-title";
import { formatDay } from "@/lib/time";
import { Markdown } from "@/markdown/markdown";
import { Button, buttonClass } from "@/ui/button";
import { Logo } from "@/ui/logo";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";

/** What a share link shows, to anyone. */
export function SharedPage() {
  const { token = "" } = useParams();
  const shared = useQuery({
    queryKey: ["shared", token],
    queryFn: () => getShared(token),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useDocumentTitle(shared.data?.title || t`Shared conversation`);
  const gone = shared.error instanceof ApiError && shared.error.status === 404;
  return (
    <div className="scrollbar-quiet h-full overflow-y-auto">
      <header className="sticky top-0 z-10 flex h-14 items-center justify-between bg-background/90 px-4 backdrop-blur">
        <Link to="/" aria-label="Parley" className="rounded-lg">
          <Logo />
        </Link>
        <Link to="/" className={buttonClass("outline", "sm")}>
          <Trans>Open Parley</Trans>
        </Link>
      </header>
      <main className="mx-auto w-full max-w-3xl px-4 pt-4 pb-20 md:px-6">
        {shared.isPending ? (
          <Loading />
        ) : shared.isError ? (
          <Notice tone="error" title={gone ? t`This link no longer works` : undefined}>
            {gone
              ? t`It has expired, its owner has deleted it, or it was never complete.`
              : errorMessage(shared.error)}
          </Notice>
        ) : (
          <>
            <SharedMessages shared={shared.data} />
            <GoOn token={token} />
          </>
        )}
      </main>
    </div>
  );
}

/** Makes a chat of the reader's own of it; who is not signed in comes back here after that. */
function GoOn({ token }: { token: string }) {
  const navigate = useNavigate();
  const copy = useMutation({
    mutationFn: () => copyShared(token),
    onSuccess: ({ id }) => void navigate(`/c/${id}`),
    onError: (error) => {
      if (!(error instanceof ApiError) || error.status !== 401) return;
      void navigate(`/login?next=${encodeURIComponent(`/share/${token}`)}`);
    },
  });
  return (
    <div className="flex flex-col items-start gap-3 border-border border-t pt-5">
      {copy.error && <Notice tone="error">{errorMessage(copy.error)}</Notice>}
      <Button busy={copy.isPending} onClick={() => copy.mutate()}>
        <Trans>Continue this chat</Trans>
      </Button>
    </div>
  );
}

function SharedMessages({ shared }: { shared: SharedConversation }) {
  const { model } = shared;
  const day = formatDay(shared.created_at);
  return (
    <>
      <h1 dir="auto" className="text-balance font-semibold text-2xl tracking-tight">
        {shared.title || t`Shared conversation`}
      </h1>
      <p className="border-border border-b pt-1.5 pb-5 text-muted-foreground text-sm">
        {t`Shared on ${day}`}
        {model && ` · ${t`written with ${model}`}`}
      </p>
      {shared.messages.map((message) =>
        message.role === "user" ? (
          <article
            key={message.id}
            aria-label={t({ message: "Prompt", context: "noun" })}
            className="flex flex-col items-end py-5"
          >
            <p
              dir="auto"
              className="max-w-[85%] whitespace-pre-wrap break-words rounded-3xl bg-bubble px-5 py-2.5 leading-7"
            >
              {message.content}
            </p>
          </article>
        ) : (
          <article
            key={message.id}
            aria-label={t({ message: "Answer", context: "noun" })}
            className="py-2"
          >
            <Markdown text={message.content} />
            <div className="-ms-2 mt-1">
              <CopyButton text={message.content} label={t`Copy answer`} />
            </div>
          </article>
        ),
      )}
    </>
  );
}
