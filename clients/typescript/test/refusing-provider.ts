// A local provider that first answers with a call, and refuses the next request with the message
// of the provider named first in the path: `/groq/leaked/v1/...`.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Scenario = "native" | "leaked" | "promoted";
export const SCENARIOS: readonly Scenario[] = ["native", "leaked", "promoted"];

type Json = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

const LEAK = "<think>why</think>Look.";
const WRITTEN = `${LEAK}\n<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>`;
const TEXT: Readonly<Record<Scenario, string>> = { native: "Look.", leaked: LEAK, promoted: WRITTEN };

/** How a wire answers, and which members of a request are earlier answers. */
interface Wire {
  readonly turns: (body: Json) => Json[];
  /** `native`: the provider's own members of reasoning. */
  readonly call: (scenario: Scenario, native: Json) => Json;
  readonly done: () => Json;
  /** The same answer as the events of a stream. */
  readonly streamed: (answer: Json) => Json[];
}

const completion = (message: Json, finish_reason: string) => ({
  ...{ id: "c1", object: "chat.completion", model: "m", created: 1 },
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
});
/** One delta with all of the answer, then the finish in a chunk of its own, then the usage. */
const chunksOf = ({ usage, choices, ...rest }: Json): Json[] => {
  const { message, finish_reason } = choices[0];
  const tool_calls = message.tool_calls?.map((call: Json, index: number) => ({ index, ...call }));
  const delta = tool_calls ? { ...message, tool_calls } : message;
  const chunk = { ...rest, object: "chat.completion.chunk" };
  return [
    { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...chunk, choices: [], usage },
  ];
};
const CHAT: Wire = {
  streamed: chunksOf,
  turns: ({ messages }) => messages.filter(({ role }: Json) => role === "assistant"),
  call: (scenario, native) => {
    const content = { content: TEXT[scenario], ...(scenario === "native" && native) };
    if (scenario === "promoted") return completion(content, "stop");
    const call = { id: "callabc12", type: "function", function: { name: "read", arguments: '{"path": "a"}' } };
    return completion({ ...content, tool_calls: [call] }, "tool_calls");
  },
  done: () => completion({ content: "Done." }, "stop"),
};

const response = (output: Json[]) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output },
  ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true },
  ...{ temperature: 1, tool_choice: "auto", tools: [], top_p: 1 },
  usage: {
    ...{ input_tokens: 3, output_tokens: 5, total_tokens: 8 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  },
});
const said = (text: string) => ({
  ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
  content: [{ type: "output_text", text, annotations: [] }],
});
/** An item as it grows; the text of a message and the arguments of a call come in one delta. */
const itemEvents = (item: Json, output_index: number): Json[] => {
  const at = { item_id: item["id"], output_index };
  const empty = { message: { content: [] }, function_call: { arguments: "" } }[item["type"] as string];
  const place = { ...at, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [] };
  const grown: Readonly<Record<string, () => Json[]>> = {
    message: () => [
      { type: "response.content_part.added", ...place, part },
      { type: "response.output_text.delta", ...place, delta: item["content"][0].text, logprobs: [] },
      { type: "response.output_text.done", ...place, text: item["content"][0].text, logprobs: [] },
      { type: "response.content_part.done", ...place, part: item["content"][0] },
    ],
    function_call: () => [
      { type: "response.function_call_arguments.delta", ...at, delta: item["arguments"] },
      { type: "response.function_call_arguments.done", ...at, name: item["name"], arguments: item["arguments"] },
    ],
  };
  return [
    { type: "response.output_item.added", output_index, item: { ...item, ...empty, status: "in_progress" } },
    ...(grown[item["type"] as string]?.() ?? []),
    { type: "response.output_item.done", output_index, item },
  ];
};
const responseEvents = (answer: Json): Json[] =>
  [
    { type: "response.created", response: { ...answer, status: "in_progress", output: [], usage: null } },
    ...(answer["output"] as Json[]).flatMap(itemEvents),
    { type: "response.completed", response: answer },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
const RESPONSES: Wire = {
  streamed: responseEvents,
  turns: ({ input }) => input.filter(({ role }: Json) => role === undefined || role === "assistant"),
  call: (scenario, native) => {
    const call = { id: "fc_1", type: "function_call", call_id: "call_1", name: "read", status: "completed" };
    const before = scenario === "native" ? [native] : [];
    const after = scenario === "promoted" ? [] : [{ ...call, arguments: '{"path": "a"}' }];
    return response([...before, said(TEXT[scenario]), ...after]);
  },
  done: () => response([said("Done.")]),
};

const message = (content: Json[], stop_reason: string) => ({
  ...{ id: "m1", type: "message", role: "assistant", model: "claude", content, stop_reason, stop_sequence: null },
  usage: { input_tokens: 3, output_tokens: 5 },
});
const blockEvents = ({ type, ...block }: Json, index: number): Json[] => {
  const { signature, input, ...start } = block;
  const told = {
    thinking: [
      { type: "thinking_delta", thinking: block["thinking"] },
      { type: "signature_delta", signature },
    ],
    text: [{ type: "text_delta", text: block["text"] }],
    tool_use: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
  }[type as string] as Json[];
  const empty = { thinking: { thinking: "", signature: "" }, text: { text: "" }, tool_use: { input: {} } };
  const content_block = { type, ...start, ...empty[type as keyof typeof empty] };
  return [
    { type: "content_block_start", index, content_block },
    ...told.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
};
const messageEvents = ({ content, stop_reason, ...rest }: Json): Json[] => [
  { type: "message_start", message: { ...rest, content: [], stop_reason: null } },
  ...(content as Json[]).flatMap(blockEvents),
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: rest["usage"] },
  { type: "message_stop" },
];
const MESSAGES: Wire = {
  streamed: messageEvents,
  turns: CHAT.turns,
  call: (scenario, native) => {
    const content = [...(scenario === "native" ? [native] : []), { type: "text", text: TEXT[scenario] }];
    if (scenario === "promoted") return message(content, "end_turn");
    return message([...content, { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } }], "tool_use");
  },
  done: () => message([{ type: "text", text: "Done." }], "end_turn"),
};

const candidates = (parts: Json[]) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
  ...{ modelVersion: "gemini-3-pro", responseId: "r1" },
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
});
const GEMINI: Wire = {
  streamed: (answer) => [answer],
  turns: ({ contents }) => contents.filter(({ role }: Json) => role === "model"),
  call: (scenario, native) => {
    const parts = [...(scenario === "native" ? [native] : []), { text: TEXT[scenario] }];
    if (scenario === "promoted") return candidates(parts);
    return candidates([...parts, { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: SIGNED }]);
  },
  done: () => candidates([{ text: "Done." }]),
};

/** The signature of this provider; nothing else is valid. */
const SIGNED = "EqQBCkYIBxgCKkBz";

interface Provider extends Wire {
  readonly native: Json;
  /** The message that refuses an earlier answer; undefined: it is accepted. */
  readonly refuses: (turn: Json, at: number) => string | undefined;
}

const without =
  (fields: readonly string[], words: (field: string, at: number) => string): Provider["refuses"] =>
  (turn, at) => {
    const found = fields.find((field) => field in turn);
    return found && words(found, at);
  };

const PROVIDERS: Readonly<Record<string, Provider>> = {
  groq: {
    ...{ ...CHAT, native: { reasoning: "why" } },
    // karthink/gptel#774
    refuses: without(
      ["reasoning_content", "reasoning"],
      (field, at) =>
        `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property '${field}' is unsupported)]`,
    ),
  },
  openai: {
    ...{ ...CHAT, native: {} },
    refuses: without(
      ["reasoning_content", "reasoning"],
      (field, at) => `Unknown parameter: 'messages[${at}].${field}'.`,
    ),
  },
  mistral: {
    ...{
      ...CHAT,
      native: {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "why" }] },
          { type: "text", text: "Look." },
        ],
      },
    },
    // BerriAI/litellm#30835 and nearai/ironclaw#1241
    refuses: (turn, at) =>
      without(
        ["reasoning_content", "reasoning", "thinking_blocks"],
        (field) => `Extra inputs are not permitted: body, messages, ${at}, assistant, ${field}`,
      )(turn, at) ??
      ((turn["tool_calls"] ?? []) as Json[])
        .filter(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id))
        .map(({ id }) => `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`)[0],
  },
  cerebras: {
    ...{ ...CHAT, native: { reasoning: "why" } },
    // Kilo-Org/kilocode#10375
    refuses: without(
      ["reasoning_content"],
      (field, at) => `property 'messages.${at}.assistant.${field}' is unsupported`,
    ),
  },
  deepseek: {
    ...{ ...CHAT, native: { reasoning_content: "why" } },
    // zed-industries/zed#55321
    refuses: (turn) =>
      turn["tool_calls"] && turn["reasoning_content"] === undefined
        ? "The `reasoning_content` in the thinking mode must be passed back to the API."
        : undefined,
  },
  responses: {
    ...{ ...RESPONSES, native: { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" } },
    // router-for-me/CLIProxyAPI#2381
    refuses: (item) =>
      item["type"] === "reasoning" && item["encrypted_content"] !== "gAAAA"
        ? `Item with id '${item["id"]}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
        : undefined,
  },
  anthropic: {
    ...{ ...MESSAGES, native: { type: "thinking", thinking: "why", signature: SIGNED } },
    // Yeachan-Heo/gajae-code#4630, anthropics/claude-code#21726 and #16748
    refuses: ({ content }, at) => {
      const blocks = (Array.isArray(content) ? content : []) as Json[];
      const place = (index: number) => `messages.${at}.content.${index}`;
      return blocks
        .map(({ type, signature, text, id }, index) => {
          if (type === "thinking" && signature === undefined) {
            return `${place(index)}.thinking.signature: Field required`;
          }
          if (type === "thinking" && signature !== SIGNED) {
            return `${place(index)}: Invalid \`signature\` in \`thinking\` block`;
          }
          if (type === "text" && text === "") return "messages: text content blocks must be non-empty";
          if (type !== "tool_use" || /^[a-zA-Z0-9_-]+$/.test(id)) return undefined;
          return `${place(index)}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
        })
        .find((words) => words !== undefined);
    },
  },
  gemini: {
    ...{ ...GEMINI, native: { text: "why", thought: true } },
    // 1jehuang/jcode#518
    refuses: ({ parts }, at) =>
      (parts as Json[])
        .filter(({ functionCall, thoughtSignature }) => functionCall && !KNOWN.includes(thoughtSignature))
        .map(
          ({ functionCall }) =>
            `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${functionCall.name}\` , position ${at}.`,
        )[0],
  },
};

/** https://ai.google.dev/gemini-api/docs/thought-signatures has the second. */
const KNOWN: readonly unknown[] = [SIGNED, "skip_thought_signature_validator"];

export const PROVIDER_NAMES = Object.keys(PROVIDERS);

/** An answer as it is sent: its type and its text. */
function written(answer: Json, events: Json[] | undefined): [string, string] {
  if (!events) return ["application/json", JSON.stringify(answer)];
  const named = events.map(
    (event) => `${event["type"] ? `event: ${event["type"]}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
  );
  const last = answer["object"] === "chat.completion" ? "data: [DONE]\n\n" : "";
  return ["text/event-stream", named.join("") + last];
}

/** Starts the server; `refused` has the messages of refusals, `close` ends it. */
export async function refusingProvider() {
  const refused: string[] = [];
  const sent: string[] = [];
  const server = createServer(async (request, reply) => {
    let text = "";
    for await (const part of request) text += String(part);
    sent.push(text);
    const [, name = "", scenario = ""] = (request.url ?? "").split("/");
    const { turns, call, done, streamed, native, refuses } = PROVIDERS[name] as Provider;
    const body = JSON.parse(text) as Json;
    const earlier = turns(body);
    const words = earlier.map(refuses).find((each) => each !== undefined);
    if (words) refused.push(words);
    const answer = earlier.length === 0 ? call(scenario as Scenario, native) : done();
    const streams = body["stream"] === true || request.url?.includes(":streamGenerateContent");
    const refusal = { error: { message: words, type: "invalid_request_error" } };
    const [type, sending] = words
      ? written(refusal, undefined)
      : written(answer, streams ? streamed(answer) : undefined);
    reply.writeHead(words ? 400 : 200, { "content-type": type });
    reply.end(sending);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, refused, sent, close: () => server.close() };
}
