import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { useModelList } from "./queries";
import type { ViewMessage } from "./view";

/** Says below an answer in which way it is less than usual, since its model could not answer. */
export function OutageNote({ message }: { message: ViewMessage }) {
  if (message.from_outage) {
    return (
      <Note>
        <Trans>
          The model could not answer just then. This is the stored answer to the same question.
        </Trans>
      </Note>
    );
  }
  return message.read_in_part && message.model ? <ReadInPart model={message.model} /> : null;
}

function ReadInPart({ model }: { model: string }) {
  const { data } = useModelList();
  const name = data.find(({ id }) => id === model)?.name ?? model;
  return (
    <Note>
      <Trans>Answered by {name}, which read only the newest part of this chat.</Trans>
    </Note>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="mt-2 text-muted-foreground text-sm">
      {children}
    </p>
  );
}
