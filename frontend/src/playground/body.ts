/** What the playground asks, as the API takes it and as programs write it. */
import { t } from "@lingui/core/macro";

export interface Settings {
  model: string;
  system: string;
  prompt: string;
  temperature: string;
  topP: string;
  maxTokens: string;
  /** JSON: a list of tools, and a schema that the answer keeps to; "" for none. */
  tools: string;
  schema: string;
  logprobs: boolean;
}

export const EMPTY: Settings = {
  model: "",
  system: "",
  prompt: "",
  temperature: "",
  topP: "",
  maxTokens: "256",
  tools: "",
  schema: "",
  logprobs: false,
};

export type Body = Record<string, unknown>;

/** The body of a chat completion. Throws SyntaxError, naming the field that is no JSON. */
export function bodyOf(settings: Settings): Body {
  const body: Body = { model: settings.model, messages: messagesOf(settings) };
  if (settings.temperature !== "") body.temperature = Number(settings.temperature);
  if (settings.topP !== "") body.top_p = Number(settings.topP);
  if (settings.maxTokens !== "") body.max_tokens = Number(settings.maxTokens);
  if (settings.tools.trim()) body.tools = parsed(t`Tools`, settings.tools);
  if (settings.schema.trim()) {
    const schema = parsed(t`Schema`, settings.schema);
    body.response_format = { type: "json_schema", json_schema: { name: "answer", schema } };
  }
  if (settings.logprobs) Object.assign(body, { logprobs: true, top_logprobs: 3 });
  return body;
}

function messagesOf({ system, prompt }: Settings): { role: string; content: string }[] {
  const first = system.trim() ? [{ role: "system", content: system }] : [];
  return [...first, { role: "user", content: prompt }];
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(t`${name}: this is no JSON.`);
  }
}

export type Language = "python" | "typescript" | "curl";

/** Any request of the API for a shell; its key comes from the environment unless it is given. */
export function curlOf(url: string, body: Body, key = "$PARLEY_API_KEY"): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl ${url} \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${json}'`,
  ].join("\n");
}

/** The same request as a program; its key comes from the environment unless it is given. */
export function codeOf(language: Language, body: Body, origin: string, key?: string): string {
  const base = `${origin}/v1`;
  if (language === "curl") return curlOf(`${base}/chat/completions`, body, key);
  if (language === "typescript") {
    return [
      'import OpenAI from "openai";',
      "",
      `const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: ${key ? JSON.stringify(key) : "process.env.PARLEY_API_KEY"} });`,
      `const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});`,
      "console.log(answer.choices[0].message);",
    ].join("\n");
  }
  return [
    ...(key ? [] : ["import os", ""]),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${JSON.stringify(base)}, api_key=${key ? JSON.stringify(key) : 'os.environ["PARLEY_API_KEY"]'})`,
    `answer = client.chat.completions.create(**${pythonOf(body, 0)})`,
    "print(answer.choices[0].message)",
  ].join("\n");
}

/** A JSON value as Python writes it. */
function pythonOf(value: unknown, depth: number): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = "    ".repeat(depth + 1);
  const isList = Array.isArray(value);
  const lines = isList
    ? value.map((item) => `${inner}${pythonOf(item, depth + 1)},`)
    : Object.entries(value as object).map(
        ([key, item]) => `${inner}${JSON.stringify(key)}: ${pythonOf(item, depth + 1)},`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (lines.length === 0) return `${open}${close}`;
  return `${open}\n${lines.join("\n")}\n${"    ".repeat(depth)}${close}`;
}
