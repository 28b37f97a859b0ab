// An upstream, the gateway in front of it and a client, over real connections.

import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createGateway, type GatewayOptions } from "../src/gateway.js";
import type { TurnReport } from "../src/lines.js";
import type { Sidecar, SidecarPool } from "stream-sidecar";

const servers: Server[] = [];

export function closeServers(): void {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

export async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

export interface Setting {
  readonly port: number;
  readonly lines: string[];
  readonly reports: TurnReport[];
  readonly lost: unknown[];
}

/** A gateway before an upstream that does this. */
export async function behindGateway(
  upstream: RequestListener,
  by: Sidecar | SidecarPool,
  more: Partial<GatewayOptions> = {},
): Promise<Setting> {
  const port = await listening(createServer({ maxHeaderSize: 1 << 18 }, upstream));
  const [lines, reports, lost] = [[] as string[], [] as TurnReport[], [] as unknown[]];
  const upstreams = { "/": `http://127.0.0.1:${port}` };
  const options = {
    upstreams,
    onTurn: (line: string, report: TurnReport) => void (lines.push(line), reports.push(report)),
    onTrouble: (e: unknown) => void lost.push(e),
    ...more,
  };
  return { port: await listening(createGateway(by, options)), lines, reports, lost };
}

export interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export function asking(port: number, { method = "POST", path, headers = {}, body }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, headers, agent: false as const, maxHeaderSize: 1 << 18 };
    const sent = request(options, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What comes back for bytes on a connection of their own, until it is closed. */
export async function raw(port: number, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  for (const piece of pieces) socket.write(piece);
  return text(socket);
}

export const CHAT = "/v1/chat/completions";
export const QUESTION = JSON.stringify({ model: "qwen/qwen3-32b", messages: [{ role: "user", content: "Which?" }] });

export function chunk(content: string, finish: string | null = null): string {
  const choice = { index: 0, delta: { content }, finish_reason: finish };
  const told = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] };
  return `data: ${JSON.stringify(told)}\n\n`;
}

export const LEAKING = [chunk("<thi"), chunk("nk>Look first.</think>"), chunk("On main."), chunk("", "stop")];

/** What the deltas of a stream say. */
export function said(events: string): string {
  const documents = events.split("\n\n").filter((each) => each.startsWith("data: {"));
  const deltas = documents.map((each) => JSON.parse(each.slice(6)) as { choices: { delta: { content?: string } }[] });
  return deltas.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

export const streaming: RequestListener = (asked, answer) => {
  asked.resume();
  answer.writeHead(200, { "content-type": "text/event-stream" });
  answer.end(`${LEAKING.join("")}data: [DONE]\n\n`);
};
