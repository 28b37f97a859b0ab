// `stream-sidecar-gateway`: reads the arguments and starts the gateway, and with `run` an agent
// that uses it. Returns the exit code.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { RefusedError, SidecarPool, type SidecarState } from "stream-sidecar";
import { MOST_WHOLE } from "stream-sidecar/internal";
import { baseOf, upstreamUrl } from "./addresses.js";
import { AGENTS, emptyKey, settingsOf, standIn, type Place, type Wiring } from "./agents.js";
import type { User } from "./settings.js";
import { createGateway, type GatewayOptions } from "./gateway.js";
import { statusOf } from "./health.js";
import { reasonOf, type TurnReport } from "./lines.js";
import { checkedOrigin } from "./origins.js";
import { providerOf } from "./providers.js";
import { watchedLine } from "./watch.js";

const HELP = `stream-sidecar-gateway run [options] -- AGENT [arguments]
stream-sidecar-gateway --upstream URL [options]

Removes leaked text from a model's answers, for an agent that cannot be changed. The agent
calls the gateway as it would call the provider. Everything else passes unchanged.

  --upstream URL     the provider; PATH=URL for each of several, chosen by the first part
                     of the path (with run: the agent's own, if it is known)
  --port PORT        the port to listen on (4141; with run: a free one)
  --host HOST        the address to listen on (127.0.0.1)
  --allow-origin ORIGIN
                     web pages that may call the gateway (http://localhost:3000); may be
                     repeated
  --claims WHAT      calls that the model wrote as text: drop, promote or text (drop)
  --provider NAME    the provider's name, if the URL does not show it
  --model NAME       the model, for agents that need one in their configuration
  --response-template FILE
                     how the model writes: its tokenizer_config.json, or the response
                     template alone
  --workers COUNT    number of sidecar processes; each uses one core (1)
  --no-prepare       send requests unchanged
  --watch            show each request as it ends, and the beginning of what was removed
  --record FOLDER    record each turn with its contents: the request, the provider's
                     answer, and the answer that the agent got
  --sidecar COMMAND  the sidecar's program, if it is not found
  --allow-download   let uvx or pipx download the sidecar, if none is installed
  --version          show the version
  --help             show this help

run configures ${Object.keys(AGENTS).join(", ")}; any other agent gets
OPENAI_BASE_URL and ANTHROPIC_BASE_URL. run exits with the agent's exit code, but
never with 0 if no request came through the gateway.
`;

const OPTIONS = {
  upstream: { type: "string", multiple: true },
  port: { type: "string" },
  host: { type: "string" },
  "allow-origin": { type: "string", multiple: true },
  claims: { type: "string" },
  provider: { type: "string" },
  model: { type: "string" },
  "response-template": { type: "string" },
  workers: { type: "string" },
  "no-prepare": { type: "boolean" },
  watch: { type: "boolean" },
  record: { type: "string" },
  sidecar: { type: "string" },
  "allow-download": { type: "boolean" },
  version: { type: "boolean" },
  help: { type: "boolean" },
} as const;
const CLAIMS = ["drop", "promote", "text"] as const;
const [PORT, LAST_PORT, MOST_WORKERS] = [4141, 65_535, 256];
/** Exit codes: an agent succeeded without a request through the gateway; a mistake in the arguments. */
const [UNASKED, USAGE] = [1, 2];

/** A mistake in the arguments. */
class UsageError extends Error {}

interface Arguments {
  readonly options: GatewayOptions;
  readonly host: string;
  readonly port: number;
  readonly model: string;
  readonly workers: number;
  readonly allowDownload: boolean;
  /** Whether the provider is that of the agent, which the user has not named. */
  readonly isFound: boolean;
  /** Whether each request is shown as it ends. */
  readonly isWatched: boolean;
  readonly sidecar?: string;
  /** The agent's command line, with `run`. */
  readonly agent?: readonly string[];
}

/** Runs the command; resolves with its exit code. */
export async function main(words: readonly string[]): Promise<number> {
  try {
    const given = readArguments(words);
    if (typeof given !== "string") return await serve(given);
    process.stdout.write(given);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`stream-sidecar-gateway: ${error.message} (--help)\n`);
    return USAGE;
  }
}

/** Reads the arguments; a string: what the user asked to see. */
function readArguments(words: readonly string[]): Arguments | string {
  const end = words.indexOf("--");
  const [own, agent] = end < 0 ? [words, []] : [words.slice(0, end), words.slice(end + 1)];
  const runs = own[0] === "run";
  const { help, version, upstream: named = [], ...given } = parsed(runs ? own.slice(1) : own);
  if (help) return HELP;
  if (version) return `stream-sidecar-gateway ${versionOfPackage()}\n`;
  if (runs && agent.length === 0) throw new UsageError("run needs an agent after --");
  if (!runs && agent.length > 0) throw new UsageError("an agent after -- needs run");
  const upstream = named.length > 0 ? named : [upstreamFor(agent)];
  const claims = CLAIMS.find((each) => each === (given.claims ?? "drop"));
  if (!claims) throw new UsageError(`--claims must be one of ${CLAIMS.join(", ")}`);
  return {
    options: {
      upstreams: Object.fromEntries(upstream.map(upstreamOf)),
      ...{ claims, prepare: !given["no-prepare"], ...(given.provider && { provider: given.provider }) },
      ...(given.record !== undefined && { record: given.record }),
      allowOrigins: (given["allow-origin"] ?? []).map(readBy("--allow-origin", checkedOrigin)),
      ...(given["response-template"] !== undefined && { responseTemplate: templateIn(given["response-template"]) }),
    },
    host: given.host || "127.0.0.1", // not "", which would be all addresses
    port: numberOf("--port", given.port ?? String(runs ? 0 : PORT), 0, LAST_PORT),
    model: given.model ?? "default",
    workers: numberOf("--workers", given.workers ?? "1", 1, MOST_WORKERS),
    allowDownload: given["allow-download"] ?? false,
    isFound: named.length === 0,
    isWatched: given.watch ?? false,
    ...(given.sidecar && { sidecar: given.sidecar }),
    ...(runs && { agent }),
  };
}

function versionOfPackage(): string {
  const about = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(about) as { version: string }).version;
}

/** The provider that the agent of a command line has without the gateway. */
function upstreamFor([program, ...args]: readonly string[]): string {
  if (program === undefined) throw new UsageError("--upstream is missing");
  const found = providerOf(nameOf(program), userOf(args));
  if (found === undefined) throw new UsageError(`--upstream is missing, and the provider of ${program} is not known`);
  return found;
}

/** The name of an agent's command. */
function nameOf(program: string): string {
  return basename(program).replace(/\.(cmd|exe|bat|ps1)$/i, "");
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
  readBy("--upstream", upstreamUrl)(url);
  return [path.startsWith("/") ? path : `/${path}`, url];
}

/** The function, whose TypeError is a mistake in the option of this name. */
function readBy<T>(option: string, read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new UsageError(`${option} ${(error as Error).message}`);
    }
  };
}

/** The response template in a file, which may be the configuration of a tokenizer. */
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

/** An agent that is to be cleaned is not started if nothing could be cleaned. */
function refuse(error: unknown): never {
  const names = `@stream-sidecar/${process.platform}-${process.arch} beside this package, or the Python package stream-sidecar`;
  const ways = `install ${names}, or let uvx or pipx download it with --allow-download`;
  throw new UsageError(`no sidecar can be started: ${ways}. ${reasonOf(error)}`);
}

/** Checks the template once: if the sidecar refuses it, every turn would fail. */
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
  throw new UsageError(`${name} ${text}: not a number from ${least} to ${most}`);
}

async function serve(given: Arguments): Promise<number> {
  const { options, host, port, model, workers, allowDownload, sidecar: command, agent } = given;
  const addresses = Object.values(options.upstreams).join(", ");
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  let [isOver, lastStatus] = [false, "ok"];
  const onState = (state: SidecarState) => {
    if (isOver || !(state === "lost" || state === "running")) return;
    const status = statusOf(pool.sidecars);
    if (state === "lost" && status !== lastStatus) say(status);
    lastStatus = status;
  };
  const pool = SidecarPool.create(workers, {
    ...(command && { command }),
    allowDownload,
    restarts: { max: 60, windowMs: 60_000, delayMs: 0 }, // streams wait meanwhile; what is given up passes uncleaned
    limits: { maxDocumentChars: MOST_WHOLE }, // an image arrives in one event
    onState,
  });
  const turns: string[] = [];
  let lastFault = "";
  // The agent uses the terminal until it ends. But a server that is not there is said at once:
  // an agent may ask it for minutes.
  const keep = (line: string, { phrases }: TurnReport) => {
    turns.push(line);
    const fault = phrases.find(({ kind }) => kind === "unanswered")?.text ?? "";
    if (fault && fault !== lastFault) say(line);
    lastFault = fault;
  };
  const log = agent ? keep : say;
  const hasColours = process.stderr.isTTY && process.stderr.hasColors();
  const onTurn = (line: string, report: TurnReport) => {
    if (given.isWatched) say(watchedLine(report, hasColours));
    else if (report.phrases.some(({ kind }) => kind !== "passed")) log(line, report);
  };
  const server = gatewayOf(pool, { ...options, onTurn, onTrouble: (line) => !isOver && say(line) });
  try {
    const started = Promise.all(pool.sidecars.map((each) => each.start()));
    if (agent) await started.catch(refuse);
    else started.catch(() => {}); // onState has said it
    await checkTemplate(pool, options);
    await listening(server, port, host);
    const base = baseOf(host, server.address() as AddressInfo);
    const place = { base, model, upstreams: addressesOf(options) };
    if (agent) {
      if (given.isFound) say(`the gateway is in front of ${addresses}`);
      let isAsked = false;
      server.on("request", ({ method }: IncomingMessage) => (isAsked ||= method === "POST"));
      const isKeyless = Object.values(options.upstreams).every((each) => new URL(each).protocol === "http:");
      const code = await runAgent(agent, place, isKeyless);
      if (!isAsked) say(`${agent[0]} sent no request through the gateway: nothing was cleaned`);
      return isAsked ? code : code || UNASKED;
    }
    say(`listening on ${base}, in front of ${addresses}`);
    say(settingsOf(place, userOf([])));
    await ended();
    return 0;
  } finally {
    isOver = true;
    server.closeAllConnections();
    server.close();
    await pool.shutdown();
    turns.forEach(say);
  }
}

/** The gateway; a folder for records that cannot be made is a mistake in the arguments. */
function gatewayOf(pool: SidecarPool, options: GatewayOptions): Server {
  try {
    return createGateway(pool, options);
  } catch (error) {
    throw new UsageError(`--record ${options.record}: ${(error as Error).message}`);
  }
}

function addressesOf({ upstreams }: GatewayOptions): Record<string, string> {
  return Object.fromEntries(Object.entries(upstreams).map(([path, url]) => [path, String(url)]));
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

/** Starts the agent in this terminal, configured for the gateway; returns its exit code. */
async function runAgent(
  [program = "", ...args]: readonly string[],
  at: Omit<Place, "folder">,
  isKeyless: boolean,
): Promise<number> {
  const name = nameOf(program);
  const folder = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  const {
    env,
    args: more = [],
    own = args,
    file,
  } = (AGENTS[name]?.wiring ?? anyAgent)({ ...at, folder }, userOf(args));
  if (file) writeFileSync(join(folder, file.name), file.text, { mode: 0o600 });
  try {
    const variables = { ...(isKeyless && emptyKey(name, process.env)), ...process.env, ...env };
    const child = spawn(program, [...more, ...own], { stdio: "inherit", env: variables });
    process.on("SIGINT", () => {}); // the agent gets the signal from the terminal too, and decides
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

function userOf(args: readonly string[]): User {
  return { home: homedir(), folder: process.cwd(), env: process.env, args };
}

function anyAgent(place: Place, { env }: User): Wiring {
  return { env: { OPENAI_BASE_URL: standIn(place, env["OPENAI_BASE_URL"]), ANTHROPIC_BASE_URL: place.base } };
}
