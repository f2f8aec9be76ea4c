import { type ComponentProps, type RefObject, useEffect, useReducer } from "react";
import TextareaAutosize from "react-textarea-autosize";
import { cn } from "@/lib/cn";

/** Where the browser sizes a text area by its text, nothing has to lay out the page to measure it. */
const SIZES_ITSELF = globalThis.CSS?.supports?.("field-sizing", "content") ?? false;

type Props = ComponentProps<typeof TextareaAutosize>;

interface GrowingTextAreaProps extends Omit<Props, "ref" | "minRows" | "style"> {
  ref: RefObject<HTMLTextAreaElement | null>;
}

/** As high as its text at each width; how high at most, its class says. */
export function GrowingTextArea(props: GrowingTextAreaProps) {
  if (!SIZES_ITSELF) return <MeasuredTextArea {...props} />;
  const { className, maxRows: _, ...rest } = props;
  return <textarea {...rest} rows={1} className={cn("field-sizing-content", className)} />;
}

/** Measured after each change, and when its width has changed otherwise: a sidebar closes. */
function MeasuredTextArea(props: GrowingTextAreaProps) {
  const [, measure] = useReducer((times: number) => times + 1, 0);
  const { ref } = props;
  useEffect(() => {
    let width = ref.current?.clientWidth;
    const observer = new ResizeObserver(() => {
      if (ref.current?.clientWidth === width) return;
      width = ref.current?.clientWidth;
      measure();
    });
    if (ref.current) observer.observe(ref.current);
    return () => observer.disconnect();
  }, [ref]);
  return <TextareaAutosize {...props} />;
}
