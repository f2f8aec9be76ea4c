import { Trans } from "@lingui/react/macro";
import { Link } from "react-router";
import { buttonClass } from "@/ui/button";
import type { Topic } from "./topics";

interface HelpLinkProps {
  topic: Topic;
  /** By loading the page anew, where its code has failed. */
  anew?: boolean;
}

/** From an error to what it means (help-page.tsx). */
export function HelpLink({ topic, anew = false }: HelpLinkProps) {
  return (
    <Link to={`/help#${topic}`} reloadDocument={anew} className={buttonClass("ghost", "sm")}>
      <Trans>What to do</Trans>
    </Link>
  );
}
