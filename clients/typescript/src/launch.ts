// Starts one sidecar and shakes hands with it: from a command line to a Link, or to the
// error that says why not. A process that speaks nonsense, hangs or ends is killed with
// its group, and its link is lost with what it had written to standard error.

import { ConnectionLost, RefusedError, UnsupportedProtocol, type RequestTimeout } from "./errors.js";
import { FrameReader } from "./frames.js";
import { Link, type ServerInfo } from "./link.js";
import { MessageConnection } from "./message-connection.js";
import { SidecarProcess, type ProcessEnding, type ProcessOptions } from "./process.js";
import { PROTOCOL_VERSION, type Capabilities, type ConnectionOptions } from "./protocol.js";

export interface LaunchOptions extends ProcessOptions, ConnectionOptions {
  readonly logLevel?: string | undefined;
  readonly startTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
}

/** So long a process may live on that has closed its output. */
const CLOSED_MS = 500;

/** A link that owns its process. */
export class ProcessLink extends Link {
  readonly process: SidecarProcess;
  readonly #say: (method: string) => Promise<void>;
  readonly #patienceMs: number;

  constructor(process: SidecarProcess, connection: MessageConnection, patienceMs: number) {
    super(connection);
    this.process = process;
    this.#say = (method) => connection.sendNotification(method);
    this.#patienceMs = patienceMs;
  }

  override async end(): Promise<void> {
    const options = { timeoutMs: this.#patienceMs };
    const asked = this.request("shutdown", undefined as never, options);
    await super.end();
    await asked.catch(() => {});
    await this.#say("exit").catch(() => {});
    await this.process.end(this.#patienceMs);
  }

  /**
   * Answers come in the order of the requests, so the first that is late is the one that
   * the process hangs on: it is of no use to anybody any more.
   */
  protected override timedOut(error: RequestTimeout): void {
    const stderr = this.process.stderr.toString();
    this.lose(new ConnectionLost(`the sidecar hangs: ${error.message}`, { stderr, cause: error }));
    this.process.kill();
  }

  /** Its end, which says more, is near. */
  protected override broken(): void {
    void this.process.end(CLOSED_MS);
  }
}

/** Starts `command`; rejects with ConnectionLost, RequestTimeout or UnsupportedProtocol. */
export async function launch(command: readonly string[], options: LaunchOptions): Promise<ProcessLink> {
  const logging = options.logLevel === undefined ? [] : ["--log-level", options.logLevel];
  const process = new SidecarProcess([...command, ...logging], options);
  const connection = new MessageConnection((frame) => process.write(frame));
  const link = new ProcessLink(process, connection, options.shutdownTimeoutMs);
  watch(link, process, connection);
  try {
    const answer = await shakeHands(link, options);
    link.capabilities = capabilitiesOf(answer);
    link.serverInfo = serverInfoOf(answer);
    await connection.sendNotification("initialized", {});
    return link;
  } catch (error) {
    process.kill();
    throw error;
  }
}

/** Loses `link` when the process ends, and ends the process when it speaks nonsense. */
function watch(link: Link, process: SidecarProcess, connection: MessageConnection): void {
  const frames = new FrameReader();
  process.stdout.on("data", (data: Buffer) => {
    if (link.isLost) return;
    try {
      for (const message of frames.push(data)) connection.take(message);
    } catch (cause) {
      const stderr = process.stderr.toString();
      const what = (cause as Error).message;
      link.lose(new ConnectionLost(`the sidecar does not speak the protocol: ${what}`, { stderr, cause }));
      process.kill();
    }
  });
  process.stdout.on("end", () => void process.end(CLOSED_MS)); // so it has to end, too
  void process.ended.then((ending) => link.lose(new ConnectionLost(epitaph(ending), ending)));
}

function epitaph({ exitCode, signal, cause, stderr }: ProcessEnding): string {
  if (cause instanceof Error) return `the sidecar cannot be started: ${cause.message}`;
  const how = signal === null ? `with code ${exitCode}` : `by ${signal}`;
  const last = stderr.trim().split("\n").at(-1);
  return `the sidecar ended ${how}${last ? `: ${last}` : ""}`;
}

/** Gives what `initialize` is answered with. */
async function shakeHands(link: Link, options: LaunchOptions): Promise<unknown> {
  const { policy, limits, startTimeoutMs } = options;
  const ours = { protocolVersion: PROTOCOL_VERSION, ...(policy && { policy }), ...(limits && { limits }) };
  const params = {
    processId: process.pid,
    clientInfo: { name: "stream-sidecar-typescript" },
    capabilities: {},
    initializationOptions: { streamSidecar: ours },
  };
  try {
    return await link.request("initialize", params, { timeoutMs: startTimeoutMs });
  } catch (error) {
    if (!(error instanceof RefusedError) || error.kind !== "unsupported-version") throw error;
    throw new UnsupportedProtocol(error.message, (error.data["supported"] as number[] | undefined) ?? []);
  }
}

/** Name and version of what answered. */
export function serverInfoOf(initializeResult: unknown): ServerInfo | undefined {
  return (initializeResult as { serverInfo?: ServerInfo } | null)?.serverInfo;
}

/** Our part of what `initialize` gave; throws UnsupportedProtocol. */
export function capabilitiesOf(initializeResult: unknown): Capabilities {
  const result = initializeResult as { capabilities?: { experimental?: { streamSidecar?: Capabilities } } } | null;
  const found = result?.capabilities?.experimental?.streamSidecar;
  if (found === undefined) throw new UnsupportedProtocol("the process is no stream-sidecar", []);
  const version = found.protocolVersion;
  if (version === PROTOCOL_VERSION) return found;
  const message = `the sidecar speaks version ${version} of the protocol, and this client ${PROTOCOL_VERSION}`;
  throw new UnsupportedProtocol(message, [version]);
}
