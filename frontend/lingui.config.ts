/** The page's messages: where they stand in the sources, and the catalogues that translate them. */
import { defineConfig } from "@lingui/conf";
import { formatter } from "@lingui/format-po";

export default defineConfig({
  // English stands in the sources and has no catalogue.
  sourceLocale: "en",
  locales: ["de", "fr", "es", "pt", "ja", "zh-CN", "ar"],
  catalogs: [
    {
      path: "<rootDir>/src/locales/{locale}",
      include: ["<rootDir>/src"],
      exclude: ["**/*.test.ts", "**/*.test.tsx", "**/*.gen.ts"],
    },
  ],
  runtimeConfigModule: { Trans: ["@/lib/trans", "Trans"] },
  orderBy: "message",
  format: formatter({ lineNumbers: false }),
});
