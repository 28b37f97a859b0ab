// `stream-sidecar-gateway`: reads the arguments, starts the gateway, and with `run` an
// agent behind it. Gives the exit code.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { RefusedError, SidecarPool } from "../index.js";
import { AGENTS, emptyKey, settingsOf, type Place, type Wiring } from "./agents.js";
import { createGateway, type GatewayOptions } from "./gateway.js";
import { MOST_WHOLE } from "./upstream.js";

const HELP = `stream-sidecar-gateway --upstream URL [options]
stream-sidecar-gateway run --upstream URL [options] -- AGENT [arguments]

Cleans what a model's answers leak, for an agent that cannot be changed. The agent calls
the gateway as it would call the provider; everything else passes as it is.

  --upstream URL     the provider; PATH=URL for one of several, by the path in front
  --port PORT        where it listens (4141; with run: a free one)
  --host HOST        the address (127.0.0.1)
  --claims WHAT      calls that the model wrote as text: drop, promote or text (drop)
  --provider NAME    who answers, where the URL does not tell
  --model NAME       the model, for agents that need one in their configuration
  --response-template FILE
                     how the model writes: its tokenizer_config.json, or the response
                     template alone
  --workers COUNT    processes of the sidecar, a core each (1)
  --no-prepare       requests go out as they came
  --record FOLDER    keeps what each turn asked, what came and what went on, contents too
  --sidecar COMMAND  the program of the sidecar, where it is not found
  --help

run knows ${Object.keys(AGENTS).join(", ")}; another agent is started as it is, with
OPENAI_BASE_URL and ANTHROPIC_BASE_URL. It ends with the agent's exit code.
`;

const OPTIONS = {
  upstream: { type: "string", multiple: true },
  port: { type: "string" },
  host: { type: "string" },
  claims: { type: "string" },
  provider: { type: "string" },
  model: { type: "string" },
  "response-template": { type: "string" },
  workers: { type: "string" },
  "no-prepare": { type: "boolean" },
  record: { type: "string" },
  sidecar: { type: "string" },
  help: { type: "boolean" },
} as const;
const CLAIMS = ["drop", "promote", "text"] as const;
const [PORT, LAST_PORT, MOST_WORKERS, USAGE] = [4141, 65_535, 256, 2];

/** What the user got wrong. */
class UsageError extends Error {}

interface Arguments {
  readonly options: GatewayOptions;
  readonly host: string;
  readonly port: number;
  readonly model: string;
  readonly workers: number;
  readonly sidecar?: string;
  /** The agent's command line, with `run`. */
  readonly agent?: readonly string[];
}

/** Runs the command; resolves with its exit code when it is over. */
export async function main(words: readonly string[]): Promise<number> {
  try {
    const given = readArguments(words);
    if (given) return await serve(given);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`stream-sidecar-gateway: ${error.message} (--help)\n`);
    return USAGE;
  }
}

/** undefined: help is wanted. */
function readArguments(words: readonly string[]): Arguments | undefined {
  const end = words.indexOf("--");
  const [own, agent] = end < 0 ? [words, []] : [words.slice(0, end), words.slice(end + 1)];
  const runs = own[0] === "run";
  const { help, upstream = [], ...given } = parsed(runs ? own.slice(1) : own);
  if (help) return undefined;
  if (upstream.length === 0) throw new UsageError("--upstream is missing");
  if (runs && agent.length === 0) throw new UsageError("run needs an agent after --");
  if (!runs && agent.length > 0) throw new UsageError("an agent is started by run");
  const claims = CLAIMS.find((each) => each === (given.claims ?? "drop"));
  if (!claims) throw new UsageError(`--claims is one of ${CLAIMS.join(", ")}`);
  return {
    options: {
      upstreams: Object.fromEntries(upstream.map(upstreamOf)),
      ...{ claims, prepare: !given["no-prepare"], ...(given.provider && { provider: given.provider }) },
      ...(given.record !== undefined && { record: given.record }),
      ...(given["response-template"] !== undefined && { responseTemplate: templateIn(given["response-template"]) }),
    },
    host: given.host ?? "127.0.0.1",
    port: numberOf("--port", given.port ?? String(runs ? 0 : PORT), 0, LAST_PORT),
    model: given.model ?? "default",
    workers: numberOf("--workers", given.workers ?? "1", 1, MOST_WORKERS),
    ...(given.sidecar && { sidecar: given.sidecar }),
    ...(runs && { agent }),
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function upstreamOf(text: string): [string, string] {
  const [, path = "/", url = text] = /^(\/?[\w.-]+)=(.*)$/.exec(text) ?? [];
  const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isUrl) throw new UsageError(`--upstream ${text}: no address of HTTP`);
  return [path.startsWith("/") ? path : `/${path}`, url];
}

/** The response template of a file, which may be the configuration of a tokenizer. */
function templateIn(path: string): Record<string, unknown> {
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown> | null;
    const template = found && "fields" in found ? found : found?.["response_template"];
    if (typeof template === "object" && template !== null) return template as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`--response-template ${path}: ${(error as Error).message}`);
  }
  throw new UsageError(`--response-template ${path}: it has no response_template`);
}

/** A template that the sidecar refuses would be refused in every turn. */
async function checkTemplate(pool: SidecarPool, { responseTemplate }: GatewayOptions): Promise<void> {
  if (!responseTemplate) return;
  try {
    await pool.sidecars[0].normalize({ wire: "text", body: "", responseTemplate });
  } catch (error) {
    if (error instanceof RefusedError) throw new UsageError(`--response-template: ${error.message}`);
  }
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new UsageError(`${name} ${text}: no number from ${least} to ${most}`);
}

async function serve({ options, host, port, model, workers, sidecar: command, agent }: Arguments): Promise<number> {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  let isOver = false;
  const pool = SidecarPool.create(workers, {
    ...(command && { command }),
    limits: { maxDocumentChars: MOST_WHOLE }, // an image comes whole in one event
    onState: (state) => state === "lost" && !isOver && say("THERE IS NO SIDECAR: everything passes as it comes"),
  });
  const turns: string[] = [];
  const onTurn = agent ? (line: string) => void turns.push(line) : say; // an agent has its terminal for itself
  const server = createGateway(pool, { ...options, onTurn, onTrouble: (line) => !isOver && say(line) });
  try {
    await checkTemplate(pool, options);
    await listening(server, port, host);
    const base = `http://${host}:${(server.address() as AddressInfo).port}`;
    if (agent) {
      let isAsked = false;
      server.once("request", () => (isAsked = true));
      const isKeyless = Object.values(options.upstreams).every((each) => new URL(each).protocol === "http:");
      const code = await runAgent(agent, { base, model }, isKeyless);
      if (!isAsked) say(`${agent[0]} asked nothing through the gateway`);
      return code;
    }
    say(`listening on ${base}, in front of ${Object.values(options.upstreams).join(", ")}`);
    say(settingsOf(base, model));
    await ended();
    return 0;
  } finally {
    isOver = true;
    turns.forEach(say);
    server.closeAllConnections();
    server.close();
    await pool.shutdown();
  }
}

async function listening(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new UsageError(`cannot listen on ${host}:${port}: ${(error as Error).message}`);
  }
}

/** Resolves at SIGINT or SIGTERM. */
async function ended(): Promise<void> {
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
}

/** Starts the agent in this terminal, wired to the gateway; gives its exit code. */
async function runAgent(
  [program = "", ...args]: readonly string[],
  at: Omit<Place, "folder">,
  isKeyless: boolean,
): Promise<number> {
  const name = basename(program).replace(/\.(cmd|exe|bat|ps1)$/i, "");
  const folder = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  const { env, args: more = [], file } = (AGENTS[name]?.wiring ?? anyAgent)({ ...at, folder });
  if (file) writeFileSync(join(folder, file.name), file.text, { mode: 0o600 });
  try {
    const variables = { ...(isKeyless && emptyKey(name, process.env)), ...process.env, ...env };
    const child = spawn(program, [...more, ...args], { stdio: "inherit", env: variables });
    process.on("SIGINT", () => {}); // the terminal tells the agent, too, which decides
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    return code ?? (signal === "SIGINT" ? 130 : 143);
  } catch (error) {
    throw new UsageError(`${program} cannot be started: ${(error as Error).message}`);
  } finally {
    if (file) rmSync(join(folder, file.name), { force: true });
    if (readdirSync(folder).length === 0) rmdirSync(folder); // pi keeps its sessions there
  }
}

function anyAgent({ base }: Place): Wiring {
  return { env: { OPENAI_BASE_URL: `${base}/v1`, ANTHROPIC_BASE_URL: base } };
}
