/** The languages that chats are about, by Shiki's names, and what else they are called. */
export const LANGUAGES = [
  "bash",
  "c",
  "cpp",
  "csharp",
  "css",
  "diff",
  "docker",
  "go",
  "graphql",
  "html",
  "ini",
  "java",
  "javascript",
  "json",
  "jsx",
  "kotlin",
  "lua",
  "make",
  "markdown",
  "php",
  "powershell",
  "python",
  "r",
  "ruby",
  "rust",
  "scala",
  "sql",
  "swift",
  "toml",
  "tsx",
  "typescript",
  "xml",
  "yaml",
] as const;

export type Language = (typeof LANGUAGES)[number];

const aliases: Partial<Record<Language, string[]>> = {
  bash: ["sh", "shell", "zsh", "console"],
  cpp: ["c++"],
  csharp: ["c#", "cs"],
  docker: ["dockerfile"],
  ini: ["properties"],
  javascript: ["js", "mjs", "cjs"],
  kotlin: ["kt"],
  make: ["makefile"],
  markdown: ["md"],
  powershell: ["ps1"],
  python: ["py", "python3"],
  ruby: ["rb"],
  rust: ["rs"],
  typescript: ["ts"],
  yaml: ["yml"],
};

const named = new Map(
  LANGUAGES.flatMap((language) =>
    [language, ...(aliases[language] ?? [])].map((name) => [name, language] as const),
  ),
);

/** What a fence names; undefined for what is shown without colours. */
export const languageNamed = (name: string): Language | undefined =>
  named.get(name.trim().toLowerCase());
