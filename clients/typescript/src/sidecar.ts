// The sidecar as a host sees it: started when it is needed, restarted when it ends, and
// asked for streams and for single messages.

import { ConnectionLost, SidecarUnavailable } from "./errors.js";
import { eventsOf, type StreamEvent } from "./stream/events.js";
import { Gate } from "./connection/gate.js";
import { withPlainHeaders, type HttpFailure } from "./stream/headers.js";
import { Link, type Params, type Result, type RpcConnection, type ServerInfo } from "./connection/link.js";
import { capabilitiesOf, PeerLink, serverInfoOf } from "./connection/peer-link.js";
import {
  settled,
  type ClientOptions,
  type ReadText,
  type Settings,
  type SidecarOptions,
  type SidecarState,
} from "./options.js";
import { PassThroughStream } from "./stream/pass-through.js";
import type {
  Capabilities,
  ClassifyParams,
  ClassifyResult,
  HistoryParams,
  InspectResult,
  ListResult,
  NormalizeErrorParams,
  NormalizeErrorResult,
  NormalizeParams,
  NormalizeResult,
  OpenParams,
  OpenResult,
  PrepareParams,
  PrepareResult,
  RenderParams,
  RenderResult,
  RepairResult,
  StatsResult,
} from "./protocol.js";
import { locate, starter, type Located } from "./process/processes.js";
import { RemoteStream } from "./stream/remote-stream.js";
import { Budget, ReplayLog } from "./stream/replay-log.js";
import { Restarts } from "./connection/restarts.js";
import { SidecarStream } from "./stream/stream.js";
import { Supervisor, type Connect } from "./connection/supervisor.js";

export interface CallOptions {
  /** Stops waiting, and tells the sidecar. */
  signal?: AbortSignal;
  /** In place of `requestTimeoutMs` or `batchTimeoutMs`. */
  timeoutMs?: number;
}

export interface SharedOptions extends ClientOptions {
  /** What the sidecar answered to `initialize`, to be checked. */
  initializeResult?: unknown;
}

/** What `normalize` gives. */
export interface NormalizedMessage extends Omit<NormalizeResult, "events"> {
  events: StreamEvent[];
}

export class Sidecar implements AsyncDisposable {
  readonly #supervisor: Supervisor;
  readonly #settings: Settings;
  readonly #gate: Gate;
  readonly #budget: Budget;
  readonly #passThrough: boolean | ReadText;
  readonly #prefix = crypto.randomUUID().slice(0, 8);
  #streams = 0;

  /** @internal */
  constructor(connect: Connect, options: ClientOptions, passThrough: boolean | ReadText = false) {
    this.#settings = settled(options);
    const { restarts, replay } = this.#settings;
    this.#supervisor = new Supervisor(connect, new Restarts(restarts), this.#settings);
    this.#gate = new Gate(this.#settings);
    this.#budget = new Budget(replay.maxBytes);
    this.#passThrough = passThrough;
  }

  /** Where a sidecar would be looked for, best first; starts nothing. `String()` of it is for people. */
  static locate(options: SidecarOptions = {}): Located {
    return locate(options);
  }

  /** A sidecar that is started when it is first needed. */
  static create(options: SidecarOptions = {}): Sidecar {
    return new Sidecar(starter(options), options, options.passThrough);
  }

  /**
   * A sidecar that runs. Rejects with SidecarUnavailable or UnsupportedProtocol, but with
   * `passThrough` only with the latter.
   */
  static async spawn(options: SidecarOptions = {}): Promise<Sidecar> {
    return Sidecar.create(options).started();
  }

  /**
   * A sidecar at the other end of a connection that the host has already: a
   * MessageConnection of vscode-jsonrpc, or a language client, which may restart its
   * server. The host has shaken hands, and ends the connection.
   */
  static fromConnection(connection: RpcConnection, options: SharedOptions = {}): Sidecar {
    const { initializeResult, ...settings } = options;
    const known = initializeResult === undefined ? undefined : capabilitiesOf(initializeResult);
    return new Sidecar(async () => new Link(connection, known, serverInfoOf(initializeResult)), settings);
  }

  /** Starts the sidecar unless it runs; gives what it can do (unknown on a shared connection). */
  async start(): Promise<Capabilities | undefined> {
    return (await this.#supervisor.link()).capabilities;
  }

  /** @internal */
  async started(): Promise<this> {
    await this.start().catch((error: unknown) => {
      if (!this.#passThrough || !(error instanceof SidecarUnavailable)) throw error;
    });
    return this;
  }

  /** What the sidecar is doing; `onState` tells each change. */
  get state(): SidecarState {
    return this.#supervisor.state;
  }

  /** Name and version of the sidecar that runs; undefined: none, or not known. */
  get serverInfo(): ServerInfo | undefined {
    return this.#supervisor.current?.serverInfo;
  }

  /** What the running sidecar can do; undefined: none runs, or it is not known. */
  get capabilities(): Capabilities | undefined {
    return this.#supervisor.current?.capabilities;
  }

  /** Ends the process and starts another; open streams go on in it. */
  async restart(): Promise<void> {
    await this.#supervisor.restart();
  }

  /** The process that runs now; undefined: none, or not ours. */
  get pid(): number | undefined {
    const link = this.#supervisor.current;
    return link instanceof PeerLink ? link.peer.pid : undefined;
  }

  /** The last 64 kB that the running process wrote to standard error. */
  get stderr(): string {
    const link = this.#supervisor.current;
    return link instanceof PeerLink ? link.peer.stderr.toString() : "";
  }

  /** Bytes of chunks that are kept for replays, of all open streams. */
  get keptBytes(): number {
    return this.#budget.used;
  }

  /** Opens a stream for one response of a model. */
  async openStream(params: OpenParams = {}, { signal }: { signal?: AbortSignal } = {}): Promise<SidecarStream> {
    signal?.throwIfAborted();
    this.#streams += 1;
    const id = params.streamId ?? `${this.#prefix}-${this.#streams}`;
    const log = new ReplayLog(this.#budget, this.#settings.replay.maxStreamBytes);
    const remote = new RemoteStream(id, params, this.#supervisor, this.#settings, log);
    const parts = { params, gate: this.#gate, settings: this.#settings, signal };
    try {
      const opened = await this.#gate.run(() => remote.open());
      return new SidecarStream({ ...parts, core: remote, opened, passThrough: false });
    } catch (error) {
      if (!this.#passThrough || !(error instanceof SidecarUnavailable)) throw error;
      const core = new PassThroughStream(id, params, this.#passThrough, error);
      return new SidecarStream({ ...parts, core, opened: unopened(id, params), passThrough: true });
    }
  }

  /** A whole response at once. */
  async normalize(params: NormalizeParams, options?: CallOptions): Promise<NormalizedMessage> {
    const answer = await this.request("message/normalize", params, options);
    return { ...answer, events: eventsOf(answer) };
  }

  /** A message, and what its calls were answered, as the next request must carry them. */
  render(params: RenderParams, options?: CallOptions): Promise<RenderResult> {
    return this.request("message/render", params, options);
  }

  /** A whole request: clean, and freed of what its provider refuses. */
  prepare(params: PrepareParams, options?: CallOptions): Promise<PrepareResult> {
    return this.request("request/prepare", params, options);
  }

  /** Stored messages, mended. */
  repair(params: HistoryParams, options?: CallOptions): Promise<RepairResult> {
    return this.request("message/repair", params, options);
  }

  /** What `repair` would do to stored messages. */
  inspect(params: HistoryParams, options?: CallOptions): Promise<InspectResult> {
    return this.request("message/inspect", params, options);
  }

  /** Who runs these calls, and what they do. */
  classify(params: ClassifyParams, options?: CallOptions): Promise<ClassifyResult> {
    return this.request("tool/classify", params, options);
  }

  /** What a failed HTTP response means. */
  normalizeError(params: HttpFailure<NormalizeErrorParams>, options?: CallOptions): Promise<NormalizeErrorResult> {
    return this.request("error/normalize", withPlainHeaders(params), options);
  }

  /** The streams that are open in the process. */
  list(options?: CallOptions): Promise<ListResult> {
    return this.request("stream/list", {}, options);
  }

  /** What the running process has done so far. */
  stats(options?: CallOptions): Promise<StatsResult> {
    return this.request("sidecar/stats", {}, options);
  }

  /**
   * Any method that belongs to no stream. One that was under way when the process ended
   * is asked once more: it depends on nothing but its params.
   */
  async request<M extends string>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    const { requestTimeoutMs, batchTimeoutMs } = this.#settings;
    const usual = BATCHES.has(method) ? batchTimeoutMs : requestTimeoutMs;
    const { signal, timeoutMs = usual } = options;
    const waiting = { signal, timeoutMs, isHurried: timeoutMs < usual };
    const ask = async () => (await this.#supervisor.link()).request(method, params, waiting);
    return this.#gate.run(async () => {
      signal?.throwIfAborted();
      return ask().catch((error: unknown) => {
        if (error instanceof ConnectionLost && !error.isFinal) return ask();
        throw error;
      });
    });
  }

  /** Ends the sidecar, by force where it has to be; a connection of the host's is left alone. */
  async shutdown(): Promise<void> {
    await this.#supervisor.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }
}

/** They take as long as there is work. */
const BATCHES: ReadonlySet<string> = new Set(["message/normalize", "message/inspect", "message/repair"]);

/** What a stream without a sidecar was opened as. */
function unopened(streamId: string, params: OpenParams): OpenResult {
  const { wire, framing } = params;
  return {
    streamId,
    wire: wire ?? "auto",
    framing: framing ?? "auto",
    profile: { name: "none", dialects: [], startsOpen: false },
    policy: {} as OpenResult["policy"],
    limits: {} as OpenResult["limits"],
  };
}
