/** The page's side of the worker that colours code: it is begun with the first block that needs it. */
import type { ColourOrder, Line } from "./colouring";
import { grammarOf } from "./grammars";
import type { Language } from "./language-names";

type Waiting = { resolve: (lines: Line[]) => void; reject: (reason: Error) => void };

class Colours {
  readonly #worker = new Worker(new URL("./colour-worker.ts", import.meta.url), { type: "module" });
  readonly #waiting = new Map<number, Waiting>();
  readonly #known = new Set<Language>();
  #orders = 0;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<{ number: number; lines: Line[] }>) => {
      this.#waiting.get(data.number)?.resolve(data.lines);
      this.#waiting.delete(data.number);
    };
    this.#worker.onerror = () => this.#fail();
  }

  /** Rejects where the grammar or the worker could not be fetched. */
  async of(order: Omit<ColourOrder, "grammar">): Promise<Line[]> {
    const { language } = order;
    const grammar = this.#known.has(language) ? undefined : await grammarOf(language);
    this.#known.add(language);
    const number = ++this.#orders;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ ...order, grammar, number });
    });
  }

  #fail() {
    this.#worker.terminate();
    // The next block tries anew.
    if (colours === this) colours = null;
    for (const { reject } of this.#waiting.values()) reject(new Error("the worker has failed"));
    this.#waiting.clear();
  }
}

let colours: Colours | null = null;

/** The lines of `code` as coloured tokens. */
export function linesOf(order: Omit<ColourOrder, "grammar">): Promise<Line[]> {
  colours ??= new Colours();
  return colours.of(order);
}
