// The sidecar, for a host: it is started when it is needed, restarted when it ends, and opens
// streams and handles single messages.

/// <reference lib="esnext.disposable" preserve="true" />

import { callOptions, signalOf, type Cancellation } from "./cancellation.js";
import { callback, checked, pause } from "./checks.js";
import { ConnectionLost, SidecarUnavailable } from "./errors.js";
import { eventsOf, type StreamEvent } from "./stream/events.js";
import { Gate } from "./connection/gate.js";
import { withPlainHeaders, type HttpFailure } from "./stream/headers.js";
import { Link, type Params, type Result, type RpcConnection, type ServerInfo } from "./connection/link.js";
import { capabilitiesOf, PeerLink, serverInfoOf } from "./connection/peer-link.js";
import {
  guarded,
  settled,
  SHARED,
  SIDECAR,
  type ReadText,
  type Settings,
  type SharedOptions,
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
import type { Warnings } from "./warnings.js";

export interface CallOptions {
  /** Stops waiting, and cancels the request in the sidecar. */
  signal?: Cancellation | undefined;
  /** Replaces `requestTimeoutMs` or `batchTimeoutMs`. */
  timeoutMs?: number;
}

/** A listener, until it is disposed of; also for `using` and for the subscriptions of VS Code. */
export interface Subscription extends Disposable {
  dispose(): void;
}

export interface OpenOptions {
  /** Closes the stream as cancelled when it aborts. */
  signal?: Cancellation | undefined;
}

/** The result of `normalize`. */
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
  constructor(connect: Connect, settings: Settings, passThrough: boolean | ReadText | null = false) {
    const { restarts, replay } = settings;
    this.#settings = settings;
    this.#supervisor = new Supervisor(this.#connected(connect), new Restarts(restarts), settings);
    this.#gate = new Gate(this.#settings);
    this.#budget = new Budget(replay.maxBytes);
    this.#passThrough = passThrough ?? false;
  }

  /** The ways to start a sidecar that would be tried, best first. Starts nothing. `String(...)` of the result is for people. */
  static locate(options: SidecarOptions = {}): Located {
    return locate(options);
  }

  /** A sidecar that is started at its first use. Throws TypeError or RangeError for options that are wrong. */
  static create(options: SidecarOptions = {}): Sidecar {
    const settings = settled(checked(options, SIDECAR, "the sidecar"));
    return new Sidecar(starter(guarded(options, settings)), settings, options.passThrough);
  }

  /**
   * Starts a sidecar and waits for its handshake. Rejects with SidecarUnavailable (not with
   * `passThrough`) or UnsupportedProtocol.
   */
  static async spawn(options: SidecarOptions = {}): Promise<Sidecar> {
    return Sidecar.create(options).started();
  }

  /**
   * A sidecar at the other end of an existing connection of the host: a MessageConnection of
   * vscode-jsonrpc, or a language client, which may restart its server. The host has made the
   * handshake, and ends the connection.
   */
  static fromConnection(connection: RpcConnection, options: SharedOptions = {}): Sidecar {
    const { initializeResult, ...rest } = checked(options, SHARED, "the sidecar");
    const known = initializeResult === undefined ? undefined : capabilitiesOf(initializeResult);
    return new Sidecar(async () => new Link(connection, known, serverInfoOf(initializeResult)), settled(rest));
  }

  /** Starts the sidecar if it is not running; returns its capabilities (undefined on a shared connection). */
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

  /** Shows once what the sidecar ignores of the options of each connection. */
  #connected(connect: Connect): Connect {
    return async () => {
      const link = await connect();
      this.#showIgnored(link.capabilities?.ignored);
      return link;
    };
  }

  #showIgnored(paths: readonly string[] = []): void {
    for (const path of paths) this.warnings.once(`the sidecar does not know ${path}, so it has no effect`);
  }

  /** @internal */
  get warnings(): Warnings {
    return this.#settings.warnings;
  }

  /** The state of the sidecar; `onState` reports each change. */
  get state(): SidecarState {
    return this.#supervisor.state;
  }

  /** Calls `listener` with each new state, until the subscription is disposed of. */
  onState(listener: (state: SidecarState) => void): Subscription {
    callback(listener, "listener");
    const end = this.#supervisor.listen(this.warnings.guarded("onState", listener));
    return { dispose: end, [Symbol.dispose]: end };
  }

  /** Name and version of the running sidecar; undefined if none runs, or if they are not known. */
  get serverInfo(): ServerInfo | undefined {
    return this.#supervisor.current?.serverInfo;
  }

  /** The capabilities of the running sidecar; undefined if none runs, or if they are not known. */
  get capabilities(): Capabilities | undefined {
    return this.#supervisor.current?.capabilities;
  }

  /**
   * Ends the process and starts a new one, in which open streams continue; also after the
   * automatic restarts are used up.
   */
  async restart(): Promise<void> {
    await this.#supervisor.restart();
  }

  /** The id of the running process; undefined if there is none, or if it is not ours. */
  get pid(): number | undefined {
    const link = this.#supervisor.current;
    return link instanceof PeerLink ? link.peer.pid : undefined;
  }

  /** The last 64 kB that the running process wrote to standard error. */
  get stderr(): string {
    const link = this.#supervisor.current;
    return link instanceof PeerLink ? link.peer.stderr.toString() : "";
  }

  /** How many bytes of chunks all open streams keep for replays. */
  get keptBytes(): number {
    return this.#budget.used;
  }

  /** Opens a stream for one response of a model. */
  openStream(params: OpenParams = {}, options: OpenOptions = {}): Promise<SidecarStream> {
    return this.open(params, options, this.#passThrough);
  }

  /** @internal Opens a stream; `passThrough` says what happens without a sidecar. */
  async open(
    params: OpenParams,
    options: OpenOptions,
    passThrough: boolean | ReadText = false,
  ): Promise<SidecarStream> {
    OPENING(options, "the options of openStream");
    const signal = signalOf(options.signal);
    signal?.throwIfAborted();
    this.#streams += 1;
    const id = params.streamId ?? `${this.#prefix}-${this.#streams}`;
    const log = new ReplayLog(this.#budget, this.#settings.replay.maxStreamBytes);
    const remote = new RemoteStream(id, params, this.#supervisor, this.#settings, log);
    const parts = { params, gate: this.#gate, settings: this.#settings, signal };
    try {
      const opened = await this.#gate.run(() => remote.open());
      this.#showIgnored(opened.ignored);
      return new SidecarStream({ ...parts, core: remote, opened, passThrough: false });
    } catch (error) {
      if (!passThrough || !(error instanceof SidecarUnavailable)) throw error;
      this.warnings.once(`answers pass uncleaned, because there is no sidecar: ${error.message}`, "passThrough");
      const core = new PassThroughStream(id, params, passThrough, error);
      return new SidecarStream({ ...parts, core, opened: unopened(id, params), passThrough: true });
    }
  }

  /** The events and the message of a whole response. */
  async normalize(params: NormalizeParams, options?: CallOptions): Promise<NormalizedMessage> {
    const answer = await this.request("message/normalize", params, options);
    return { ...answer, events: eventsOf(answer) };
  }

  /** A message and the results of its calls, in the form that the next request needs. */
  render(params: RenderParams, options?: CallOptions): Promise<RenderResult> {
    return this.request("message/render", params, options);
  }

  /** A whole request, cleaned, and without everything that its provider refuses. */
  prepare(params: PrepareParams, options?: CallOptions): Promise<PrepareResult> {
    return this.request("request/prepare", params, options);
  }

  /** Stored messages, repaired: without everything that does not belong in an answer. */
  repair(params: HistoryParams, options?: CallOptions): Promise<RepairResult> {
    return this.request("message/repair", params, options);
  }

  /** The findings in stored messages, which `repair` would remove. */
  inspect(params: HistoryParams, options?: CallOptions): Promise<InspectResult> {
    return this.request("message/inspect", params, options);
  }

  /** Who runs these calls, and what kind of tool they call. */
  classify(params: ClassifyParams, options?: CallOptions): Promise<ClassifyResult> {
    return this.request("tool/classify", params, options);
  }

  /** The meaning of a failed HTTP response. */
  normalizeError(params: HttpFailure<NormalizeErrorParams>, options?: CallOptions): Promise<NormalizeErrorResult> {
    return this.request("error/normalize", withPlainHeaders(params), options);
  }

  /** The open streams of the process. */
  list(options?: CallOptions): Promise<ListResult> {
    return this.request("stream/list", {}, options);
  }

  /** The counters of the process since its start. */
  stats(options?: CallOptions): Promise<StatsResult> {
    return this.request("sidecar/stats", {}, options);
  }

  /**
   * Makes a request to any method without a stream. If the process ends during the request, it
   * is made again, because it depends only on its params; as it may be what ends the process, it
   * gets a quarter of the restarts (of 4, the default: once).
   */
  async request<M extends string>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    const { requestTimeoutMs, batchTimeoutMs, restarts } = this.#settings;
    const usual = BATCHES.has(method) ? batchTimeoutMs : requestTimeoutMs;
    CALL(options, "the options of a call");
    const timeoutMs = options.timeoutMs ?? usual;
    const signal = signalOf(options.signal);
    const waiting = { signal, timeoutMs, isHurried: timeoutMs < usual };
    return this.#gate.run(async () => {
      signal?.throwIfAborted();
      for (let losses = 0; ; losses += 1) {
        try {
          return await (await this.#supervisor.link()).request(method, params, waiting);
        } catch (error) {
          const mayReturn = error instanceof ConnectionLost && !error.isFinal;
          if (!mayReturn || losses >= Math.max(1, restarts.max / 4)) throw error;
        }
      }
    });
  }

  /** Ends the sidecar, by force if necessary; a connection of the host is not closed. */
  async shutdown(): Promise<void> {
    await this.#supervisor.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }
}

const OPENING = callOptions({});
const CALL = callOptions({ timeoutMs: pause });

/** Methods without a limit of work, which have `batchTimeoutMs`. */
const BATCHES: ReadonlySet<string> = new Set(["message/normalize", "message/inspect", "message/repair"]);

/** The result of opening a stream without a sidecar. */
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
