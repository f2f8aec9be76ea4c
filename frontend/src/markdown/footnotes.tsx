/**
 * Footnotes (GFM): numbers that lead down, and arrows that lead back.
 *
 * The ids that markdown gives are the same in every answer ("fn-1"); on the page each has that of
 * its message in front, and a click finds the place within it without touching the address.
 */
import { t } from "@lingui/core/macro";
import { createContext, type MouseEvent, type ReactNode, useContext } from "react";

const PlaceContext = createContext("");
export const FootnotePlace = PlaceContext.Provider;

/** remark-rehype and the sanitizer both put it in front of ids. */
const PREFIXES = /^(?:user-content-)+/;

/** What remark-rehype writes of its own; asked when it does, as the language is known then. */
export const footnoteWords = {
  get footnoteLabel() {
    return t`Footnotes`;
  },
  footnoteBackContent: "↩︎",
  footnoteBackLabel: (reference: number, again: number) => {
    const number = `${reference + 1}${again > 1 ? `-${again}` : ""}`;
    return t`Back to reference ${number}`;
  },
};

interface LinkProps {
  id?: string;
  href?: string;
  children?: ReactNode;
  "aria-label"?: string;
}

export const isFootnoteLink = (props: LinkProps): boolean =>
  props.href?.startsWith("#") === true &&
  ("data-footnote-ref" in props || "data-footnote-backref" in props);

function useIdIn(): (id: string) => string {
  const place = useContext(PlaceContext);
  return (id) => `${place}-${id.replace(PREFIXES, "")}`;
}

/** A number that leads to its note, or an arrow that leads back. */
export function FootnoteLink(props: LinkProps) {
  const idIn = useIdIn();
  const target = idIn(props.href?.slice(1) ?? "");
  const isReference = "data-footnote-ref" in props;
  const number = String(props.children);
  const back = props["aria-label"] ?? t`Back`;
  const go = (event: MouseEvent) => {
    event.preventDefault();
    const found = document.getElementById(target);
    found?.scrollIntoView({ block: "center" });
    found?.focus({ preventScroll: true });
  };
  return (
    <a
      id={props.id && idIn(props.id)}
      href={`#${target}`}
      onClick={go}
      className={isReference ? "footnote-reference" : "footnote-back"}
      aria-label={isReference ? t`Footnote ${number}` : back}
    >
      {props.children}
    </a>
  );
}

/** An entry of a list; where it is a note it can be gone to. */
export function FootnoteItem({ id, children }: { id?: string; children?: ReactNode }) {
  const idIn = useIdIn();
  if (!id) return <li>{children}</li>;
  return (
    <li id={idIn(id)} tabIndex={-1}>
      {children}
    </li>
  );
}

/** A heading of the second level; that of the notes is for screen readers. */
export function FootnoteHeading({ id, children }: { id?: string; children?: ReactNode }) {
  const idIn = useIdIn();
  if (!id) return <h2>{children}</h2>;
  return (
    <h2 id={idIn(id)} className="sr-only">
      {children}
    </h2>
  );
}
