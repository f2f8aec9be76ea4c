/**
 * Node's clients against the running product: openai-node, Anthropic's SDK and the Vercel AI SDK.
 * Prints one JSON object: what each check gave. Run by test_node_clients.py, from frontend/.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.cwd()}/package.json`));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { default: OpenAI } = await load("openai");
const { default: Anthropic } = await load("@anthropic-ai/sdk");
const { createOpenAI } = await load("@ai-sdk/openai");
const { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } =
  await load("ai");

const { PARLEY_URL, PARLEY_KEY, PARLEY_LIMITED_KEY, PARLEY_LIMIT } = process.env;
const model = "smollm2-135m";
const ask = [{ role: "user", content: "What is the weather in Rome?" }];
const schema = {
  type: "object",
  properties: { city: { enum: ["Paris", "Rome"] } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { name: "get_weather", description: "The weather of a city", parameters: schema };

const openai = new OpenAI({ baseURL: `${PARLEY_URL}/v1`, apiKey: PARLEY_KEY, maxRetries: 1 });
const anthropic = new Anthropic({ baseURL: PARLEY_URL, apiKey: PARLEY_KEY, maxRetries: 1 });
const vercel = createOpenAI({ baseURL: `${PARLEY_URL}/v1`, apiKey: PARLEY_KEY });

const checks = {
  async openaiChat() {
    const whole = await openai.chat.completions.create({
      model, messages: ask, max_tokens: 4, temperature: 0,
    });
    const stream = openai.chat.completions.stream({
      model, messages: ask, max_tokens: 4, temperature: 0,
    });
    const streamed = await stream.finalContent();
    return { whole: whole.choices[0].message.content, streamed, id: whole.id };
  },
  async openaiTools() {
    const tools = [{ type: "function", function: { ...weather, strict: true } }];
    const first = await openai.chat.completions.create({
      model, messages: ask, tools, tool_choice: "required", parallel_tool_calls: false,
      max_tokens: 60,
    });
    const { message } = first.choices[0];
    const [call] = message.tool_calls;
    const result = { role: "tool", tool_call_id: call.id, content: "Sunny." };
    const second = await openai.chat.completions.create({
      model, messages: [...ask, message, result], tools, max_tokens: 4,
    });
    return { arguments: JSON.parse(call.function.arguments), reason: second.choices[0].finish_reason };
  },
  async openaiResponses() {
    const first = await openai.responses.create({ model, input: "Hello", max_output_tokens: 4 });
    const kinds = [];
    const stream = await openai.responses.create({
      model, input: "Go on.", previous_response_id: first.id, max_output_tokens: 4, stream: true,
    });
    for await (const event of stream) kinds.push(event.type);
    return { text: first.output_text, last: kinds.at(-1) };
  },
  async openaiObjects() {
    const format = { name: "city", schema, strict: true };
    const chat = await openai.chat.completions.create({
      model, messages: ask, max_tokens: 40,
      response_format: { type: "json_schema", json_schema: format },
    });
    const response = await openai.responses.create({
      model, input: ask, max_output_tokens: 40, text: { format: { type: "json_schema", ...format } },
    });
    return {
      chat: JSON.parse(chat.choices[0].message.content),
      responses: JSON.parse(response.output_text),
    };
  },
  async openaiResponsesTools() {
    const tools = [{ type: "function", ...weather, strict: true }];
    const first = await openai.responses.create({
      model, input: ask, tools, tool_choice: "required", parallel_tool_calls: false,
      max_output_tokens: 60,
    });
    const call = first.output.find((item) => item.type === "function_call");
    const second = await openai.responses.create({
      model, previous_response_id: first.id, max_output_tokens: 4,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "Sunny." }],
    });
    return { arguments: JSON.parse(call.arguments), text: second.output_text };
  },
  async openaiErrors() {
    const refused = openai.chat.completions.create({ model, messages: [] });
    const error = await refused.then(() => null, (reason) => reason);
    return { status: error.status, param: error.param, name: error.constructor.name };
  },
  async openaiCancels() {
    const abort = new AbortController();
    const stream = await openai.chat.completions.create(
      { model, messages: ask, max_tokens: 2000, stream: true },
      { signal: abort.signal },
    );
    let chunks = 0;
    for await (const _ of stream) if (++chunks === 3) abort.abort();
    return { chunks };
  },
  async anthropicMessages() {
    const message = await anthropic.messages
      .stream({ model, max_tokens: 4, messages: ask })
      .finalMessage();
    const called = await anthropic.messages.create({
      model, max_tokens: 60, messages: ask,
      tools: [{ name: weather.name, input_schema: schema }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    });
    return { text: message.content[0].text, call: called.content.at(-1).input };
  },
  async anthropicTools() {
    const tools = [{ name: weather.name, input_schema: schema }];
    const given = { model, max_tokens: 60, tools, messages: ask };
    const first = await anthropic.messages
      .stream({ ...given, tool_choice: { type: "any", disable_parallel_tool_use: true } })
      .finalMessage();
    const call = first.content.find((block) => block.type === "tool_use");
    const result = { type: "tool_result", tool_use_id: call.id, content: "Sunny." };
    const said = [
      ...ask,
      { role: "assistant", content: first.content },
      { role: "user", content: [result] },
    ];
    const second = await anthropic.messages.create({ ...given, max_tokens: 4, messages: said });
    const counted = await anthropic.messages.countTokens({ model, tools, messages: said });
    return {
      streamed: call.input, stop: first.stop_reason, second: second.stop_reason,
      tokens: counted.input_tokens,
    };
  },
  async anthropicErrors() {
    const other = new Anthropic({ baseURL: PARLEY_URL, apiKey: "sk-parley-no" });
    const kind = (asked) =>
      asked.then(() => null, (error) => [error.status, error.error.error.type]);
    return {
      bad: await kind(anthropic.messages.create({ model, max_tokens: 0, messages: ask })),
      key: await kind(other.messages.create({ model, max_tokens: 5, messages: ask })),
    };
  },
  async anthropicCancels() {
    const stream = anthropic.messages.stream({ model, max_tokens: 2000, messages: ask });
    let events = 0;
    try {
      for await (const _ of stream) if (++events === 5) stream.abort();
    } catch (error) {
      if (error.constructor.name !== "APIUserAbortError") throw error;
    }
    return { events };
  },
  async retries() {
    const long = [{ role: "user", content: "Say hello. ".repeat(60) }];
    const many = Number(PARLEY_LIMIT);
    const limited = { apiKey: PARLEY_LIMITED_KEY, maxRetries: 3 };
    const one = new OpenAI({ baseURL: `${PARLEY_URL}/v1`, ...limited });
    const other = new Anthropic({ baseURL: PARLEY_URL, ...limited });
    const third = createOpenAI({ baseURL: `${PARLEY_URL}/v1`, apiKey: PARLEY_LIMITED_KEY });
    const asks = {
      openai: (messages, max_tokens) =>
        one.chat.completions.create({ model, messages, max_tokens, stop: ["."] }),
      anthropic: (messages, max_tokens) => other.messages.create({ model, messages, max_tokens, stop_sequences: ["."] }),
      vercel: (messages, maxOutputTokens) =>
        generateText({
          model: third.chat(model), messages, maxOutputTokens, stopSequences: ["."], maxRetries: 3,
        }),
    };
    const answered = {};
    for (const [name, asked] of Object.entries(asks)) {
      await asked(long, 4);
      answered[name] = Boolean(await asked([{ role: "user", content: "Say hello." }], many));
    }
    return answered;
  },
  async vercelSteps() {
    const given = tool({
      description: weather.description,
      inputSchema: jsonSchema(schema),
      execute: async ({ city }) => `Sunny in ${city}.`,
    });
    const stream = streamText({
      model: vercel.chat(model), prompt: ask[0].content, tools: { get_weather: given },
      stopWhen: stepCountIs(3), maxOutputTokens: 60, stopSequences: ["."],
      prepareStep: ({ stepNumber }) => ({
        toolChoice: stepNumber === 0 ? { type: "tool", toolName: "get_weather" } : "none",
      }),
    });
    const steps = await stream.steps;
    const results = steps.flatMap((step) => step.toolResults);
    return { steps: steps.length, output: results[0].output };
  },
  async vercelErrors() {
    const asked = generateText({ model: vercel.chat("none"), prompt: "Hello" });
    const error = await asked.then(() => null, (reason) => reason);
    return { status: error.statusCode, retried: error.constructor.name === "AI_RetryError" };
  },
  async vercelCancels() {
    const abort = new AbortController();
    const { textStream } = streamText({
      model: vercel.chat(model), prompt: "Tell a long story.", maxOutputTokens: 2000,
      abortSignal: abort.signal,
    });
    let parts = 0;
    for await (const _ of textStream) if (++parts === 3) abort.abort();
    return { parts };
  },
  async vercelChatAndResponses() {
    const given = { prompt: "Hello", maxOutputTokens: 4, maxRetries: 1 };
    const { text } = await generateText({ model: vercel.chat(model), ...given });
    const stream = streamText({ model: vercel.responses(model), ...given });
    let streamed = "";
    for await (const part of stream.textStream) streamed += part;
    return { text, streamed, tokens: (await stream.usage).outputTokens };
  },
  async vercelObjects() {
    const given = { prompt: "Name a city.", schema: jsonSchema(schema), maxOutputTokens: 40 };
    const byChat = await generateObject({ model: vercel.chat(model), ...given });
    const byResponses = await generateObject({ model: vercel.responses(model), ...given });
    return { chat: byChat.object, responses: byResponses.object };
  },
};

const found = {};
for (const [name, check] of Object.entries(checks)) {
  found[name] = await check().catch((error) => ({ failed: String(error?.stack ?? error) }));
}
process.stdout.write(JSON.stringify(found));
process.exit(0);
