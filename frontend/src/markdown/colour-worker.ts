/** The page's orders (colours.ts) come with a number, by which it knows the answer to each. */
import { type ColourOrder, coloured } from "./colouring";

self.onmessage = async ({ data }: MessageEvent<ColourOrder & { number: number }>) => {
  const lines = await coloured(data);
  self.postMessage({ number: data.number, lines });
};
