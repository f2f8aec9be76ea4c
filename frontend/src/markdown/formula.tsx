import { t } from "@lingui/core/macro";
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useOverflows } from "@/lib/overflow";
import type { Node } from "./formula-nodes";
import { type Formula, texOf } from "./formulas";

type Typeset = typeof import("./typeset")["typeset"];

let loaded: Typeset | null = null;

function useTypeset(): Typeset | null {
  const [typeset, setTypeset] = useState<Typeset | null>(() => loaded);
  useEffect(() => {
    if (typeset) return;
    let shown = true;
    // Without it the source stays readable, and the next formula tries again.
    import("./typeset").then(
      (module) => {
        loaded = module.typeset;
        if (shown) setTypeset(() => module.typeset);
      },
      () => undefined,
    );
    return () => {
      shown = false;
    };
  }, [typeset]);
  return typeset;
}

/** A formula of an answer; its source until KaTeX is there, and where it cannot be shown. */
export function FormulaElement({ node }: { node?: unknown }) {
  const { kind, source } = (node as Node).properties as unknown as Formula;
  if (kind === "literal") return <span className="whitespace-pre-wrap">{source}</span>;
  return <Typesetting kind={kind} source={source} />;
}

const Typesetting = memo(function Typesetting({ kind, source }: Formula) {
  const typeset = useTypeset();
  const place = useRef<HTMLSpanElement>(null);
  const overflows = useOverflows(place);
  const result = useMemo(() => {
    if (!typeset) return null;
    try {
      return { element: typeset(texOf({ kind, source }), kind === "display") };
    } catch (error) {
      return { error: String(error) };
    }
  }, [typeset, kind, source]);
  useLayoutEffect(() => {
    if (result?.element) place.current?.replaceChildren(result.element);
  }, [result]);
  if (!result?.element) {
    const why = result?.error && `${t`This formula cannot be shown.`} ${result.error}`;
    return (
      <span
        key="source"
        className="formula-source"
        dir="ltr"
        data-source={source}
        title={why || undefined}
      >
        {source}
      </span>
    );
  }
  const scrolls = overflows && { tabIndex: 0, role: "group", "aria-label": t`Formula` };
  return (
    <span
      key="typeset"
      ref={place}
      className="formula"
      data-kind={kind}
      data-source={source}
      {...scrolls}
    />
  );
});
