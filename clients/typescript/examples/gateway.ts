// A gateway that gives a server of Chat Completions to the SDK of Anthropic, clean: what
// the model leaks goes to its channel, and the client sees Messages as if Claude had
// spoken. `UPSTREAM=http://localhost:8000/v1 node gateway.js` listens on port 8787.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { Sidecar } from "stream-sidecar";

interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string;
  readonly messages: readonly { role: string; content: string | readonly { type: string; text?: string }[] }[];
  readonly tools?: readonly { name: string; description?: string; input_schema?: object }[];
}

/** The server; `upstream` is the base URL of Chat Completions. */
export function gateway(sidecar: Sidecar, upstream: string) {
  return createServer((request, response) => {
    answer(sidecar, upstream, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(502, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "api_error", message: String(error) } }));
    });
  });
}

async function answer(sidecar: Sidecar, upstream: string, request: IncomingMessage, response: ServerResponse) {
  const asked = (await json(request)) as MessagesRequest;
  const stop = new AbortController();
  response.on("close", () => stop.abort());
  const body = JSON.stringify(chatRequest(asked));
  const headers = { "content-type": "application/json" };
  const said = await fetch(`${upstream}/chat/completions`, { method: "POST", headers, body, signal: stop.signal });
  if (!said.ok || !said.body) throw new Error(`the upstream answers ${said.status}`);
  const { model, tools = [] } = asked;
  const emit = { wire: "anthropic", claims: "promote" } as const;
  await using stream = await sidecar.openStream({
    wire: "openai-chat",
    framing: "sse",
    model,
    tools: [...tools],
    emit,
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const slice of stream.emit(said.body)) response.write(slice);
  response.end();
}

function chatRequest({ model, max_tokens, system, messages, tools }: MessagesRequest): object {
  const textOf = (content: MessagesRequest["messages"][number]["content"]) =>
    typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
  const said = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
  const functions = tools?.map(({ name, description, input_schema: parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const first = system === undefined ? [] : [{ role: "system", content: system }];
  return { model, max_tokens, stream: true, messages: [...first, ...said], ...(functions && { tools: functions }) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const upstream = process.env["UPSTREAM"] ?? "http://localhost:8000/v1";
  gateway(await Sidecar.spawn(), upstream).listen(8787);
}
