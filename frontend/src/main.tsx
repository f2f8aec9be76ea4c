import "./styles/index.css";
import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { Providers } from "@/app/providers";
import { reloadForNewRelease } from "@/app/release";
import { createRouter, opened } from "@/app/router";
import { prepareClassNames } from "@/lib/cn";
import { activate } from "@/lib/locale";
import { nextTask } from "@/lib/next-task";
import { watchTheme } from "@/lib/theme";

/** After it the page says that it is loading. */
const MARK_MS = 1500;

watchTheme();
reloadForNewRelease();

/** In the page's language from the first word on; in slices, so that a touch is answered meanwhile. */
async function start(root: HTMLElement) {
  await nextTask();
  await activate();
  await nextTask();
  prepareClassNames();
  await nextTask();
  const router = createRouter();
  // The document's mark stays so long: nothing is drawn that the page itself would replace.
  await Promise.race([opened(router), new Promise((resolve) => setTimeout(resolve, MARK_MS))]);
  await nextTask();
  const page = createRoot(root);
  startTransition(() =>
    page.render(
      <StrictMode>
        <Providers>
          <RouterProvider router={router} />
        </Providers>
      </StrictMode>,
    ),
  );
}

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
// Not awaited: a module that is would not share its chunk.
void start(root);
