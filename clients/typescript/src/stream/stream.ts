// A response of a model that goes through the sidecar: the class that hosts use.

/// <reference lib="esnext.disposable" preserve="true" />

import { sseOf } from "./body-format.js";
import { ChunkReader, type Chunk } from "./chunks.js";
import { callOptions, signalOf, unlessAborted, type Cancellation } from "../cancellation.js";
import { anything, data, objectOf, pause } from "../checks.js";
import { RefusedError, RequestTimeout, SidecarError, StreamClosed, StreamInUse } from "../errors.js";
import type { ClosedStream, Pushed, StreamEvent } from "./events.js";
import { failedResponse } from "./failed-response.js";
import { InOrder } from "./in-order.js";
import type { Gate } from "../connection/gate.js";
import type { Settings } from "../options.js";
import { withPlainHeaders, type HttpFailure } from "./headers.js";
import type { CloseParams, FailedResponse, OpenParams, OpenResult, SnapshotResult } from "../protocol.js";
import { ReadAhead, type Source } from "./read-ahead.js";
import type { StreamCore } from "./remote-stream.js";
import { after } from "../timer.js";

/** Why a stream is closed, and what is known about a response that failed: an exception, or the response. */
export interface CloseOptions extends Omit<CloseParams, "streamId" | "error"> {
  error?: HttpFailure<FailedResponse> | Error | null;
}

/** How long a host waits for an answer of a stream: until the signal aborts, or until the time limit. */
export interface Patience {
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs?: number;
}

export interface StreamParts {
  readonly core: StreamCore;
  readonly opened: OpenResult;
  readonly params: OpenParams;
  readonly gate: Gate;
  readonly settings: Settings;
  readonly passThrough: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An open stream. Calls may be made without waiting for earlier calls: they run one after the
 * other. If the signal of `openStream` aborts, the stream is closed as `cancelled`, and all calls
 * except `close` reject with the signal's reason.
 */
export class SidecarStream implements AsyncDisposable {
  /** The sidecar's choices: wire, framing, profile, and the policy in force. */
  readonly opened: OpenResult;
  /** Whether there is no sidecar: then the text is raw (see the option `passThrough`). */
  readonly passThrough: boolean;
  readonly #core: StreamCore;
  readonly #order: InOrder;
  readonly #settings: Settings;
  readonly #reader: ChunkReader;
  readonly #signal: AbortSignal | undefined;
  #closed: Promise<ClosedStream> | undefined;
  #isPiped = false;
  #ahead: ReadAhead | undefined;
  /** The result of the last bytes before a refused close; the next answer includes it. */
  #undelivered: Pushed | undefined;

  /** @internal */
  constructor({ core, opened, params, gate, settings, passThrough, signal }: StreamParts) {
    this.#core = core;
    this.opened = opened;
    this.passThrough = passThrough;
    this.#order = new InOrder(core, gate, settings.maxQueuedRequests);
    this.#settings = settings;
    this.#reader = new ChunkReader(passThrough ? undefined : params.encoding);
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  get id(): string {
    return this.opened.streamId;
  }

  /**
   * Pushes one chunk and returns the events that are certain after it. A chunk is a decoded
   * document, or a slice of the body: a string, or bytes (decoded as UTF-8, or sent as base64 if
   * `encoding` is base64).
   */
  async push(chunk: unknown, patience: Patience = {}): Promise<StreamEvent[]> {
    return (await this.#push([this.#reader.read(chunk)], patience)).events;
  }

  /** Pushes several chunks together; returns the events that pushing them one by one would give. */
  async pushAll(chunks: Iterable<unknown>, patience: Patience = {}): Promise<StreamEvent[]> {
    return (
      await this.#push(
        [...chunks].map((chunk) => this.#reader.read(chunk)),
        patience,
      )
    ).events;
  }

  /** Returns the message so far, without changing the stream. */
  async snapshot(patience: Patience = {}): Promise<SnapshotResult> {
    this.#assertOpen();
    return waitFor(() => this.#order.call(() => this.#core.snapshot()), "stream/snapshot", patience);
  }

  /**
   * Ends the stream, and returns the last events and the whole message. Later calls return the
   * same. If the sidecar refuses the close, the stream stays open.
   */
  close(options: CloseOptions = {}, patience: Patience = {}): Promise<ClosedStream> {
    const close = () => {
      CLOSE(options, "close");
      this.#signal?.removeEventListener("abort", this.#abort);
      return (this.#closed ??= this.#end(options));
    };
    return waitFor(close, "stream/close", patience);
  }

  #end({ error, ...options }: CloseOptions): Promise<ClosedStream> {
    const failure = error instanceof Error ? failedResponse(error) : error;
    const params = { ...options, ...(failure && { error: withPlainHeaders(failure) }) };
    // It waits even if the queue is full, as a pipe does.
    const closed = this.#order.call(async () => {
      const rest = this.#reader.end();
      if (rest) this.#undelivered = this.#withUndelivered(await this.#core.push([rest]));
      const answer = this.#withUndelivered(await this.#core.close(params));
      this.#core.forget();
      return answer;
    }, true);
    closed.catch((refusal: unknown) => {
      if (refusal instanceof RefusedError) this.#reopen(options.reason === "cancelled");
    });
    return closed;
  }

  /** After a refused close, the stream is open as before. */
  #reopen(wasCancelled: boolean): void {
    this.#closed = undefined;
    this.#signal?.addEventListener("abort", this.#abort, { once: true });
    if (this.#signal?.aborted && !wasCancelled) this.#cancel();
  }

  /** The answer, after the undelivered result. */
  #withUndelivered<T extends Pushed>(answer: T): T {
    const before = this.#undelivered;
    if (!before) return answer;
    this.#undelivered = undefined;
    const chunks = answer.chunks && { chunks: [...(before.chunks ?? []), ...answer.chunks] };
    return { ...answer, events: [...before.events, ...answer.events], ...chunks };
  }

  /**
   * Ends the stream because the user stopped it. Nobody waits for a sidecar that hangs: without
   * an answer within 500 ms it rejects with RequestTimeout. A pipe that waits for its source
   * throws StreamClosed.
   */
  cancel({ signal, timeoutMs = CANCEL_MS }: Patience = {}): Promise<ClosedStream> {
    const closed = this.close({ reason: "cancelled" }, { signal, timeoutMs });
    this.#ahead?.stop(new StreamClosed(this.id));
    return closed;
  }

  /**
   * Pushes the items of `source` as they arrive, and yields all events. At the end the stream is
   * closed, and `close()` returns the message. It reads ahead only up to `readAhead`, so that the
   * source stops if the consumer stops. If the source throws, the stream ends with an `error`
   * event, and the error is thrown after the last event. Throws TypeError if `source` is no
   * source of chunks (the stream is cancelled), and StreamInUse if the stream is piped already.
   */
  pipe(source: Source): AsyncGenerator<StreamEvent, ClosedStream, void> {
    return this.#pipe(source, ({ events }) => events);
  }

  /**
   * `pipe` for a stream opened with `emit`: yields the documents of the clean stream
   * (protocol.md, "The way through"). `onEvent` is called with each event. Throws SidecarError if
   * the stream emits no documents.
   */
  pipeChunks(
    source: Source,
    onEvent?: (event: StreamEvent) => void,
  ): AsyncGenerator<Record<string, unknown>, ClosedStream, void> {
    const listener = this.#settings.warnings.guarded("onEvent", onEvent);
    return this.#pipe(source, ({ events, chunks = [] }) => {
      this.#assertEmits();
      events.forEach((event) => listener(event));
      return chunks;
    });
  }

  /**
   * @internal `pipeChunks` for a response whose reader gets the exception of a source that
   * throws: no document describes it.
   */
  pipeBare(
    source: Source,
    onEvent: (event: StreamEvent) => void,
  ): AsyncGenerator<Record<string, unknown>, ClosedStream, void> {
    return this.#pipe(source, (pushed, isBroken) => {
      pushed.events.forEach(onEvent);
      return isBroken ? withoutBreak(pushed) : (pushed.chunks ?? []);
    });
  }

  /**
   * `pipeChunks` as the body of a response: server-sent events, one for each document. Without a
   * sidecar it is the pushed text, unchanged.
   */
  async *emit(source: Source): AsyncGenerator<Uint8Array, ClosedStream, void> {
    const format = sseOf(this.opened.emit?.wire ?? "");
    const documentsOf = ({ chunks = [] }: Pushed) => chunks.map((chunk) => format.document(chunk, false)).join("");
    const write = this.passThrough ? textOf : documentsOf;
    const encoder = new TextEncoder();
    const closed = yield* this.#pipe(source, (pushed) => {
      this.#assertEmits();
      const text = write(pushed);
      return text === "" ? [] : [encoder.encode(text)];
    });
    const end = this.passThrough ? "" : format.end(false, true);
    if (end !== "") yield encoder.encode(end);
    return closed;
  }

  async *#pipe<T>(
    source: Source,
    pick: (pushed: Pushed, isBroken: boolean) => Iterable<T>,
  ): AsyncGenerator<T, ClosedStream, void> {
    this.#assertOpen();
    if (this.#isPiped) throw new StreamInUse(this.id);
    this.#isPiped = true;
    let failure: { readonly error: unknown } | undefined;
    try {
      const ahead = new ReadAhead(source, (chunk) => this.#reader.read(chunk), this.#settings.readAhead);
      this.#ahead = ahead;
      for (;;) {
        const chunks = await unlessAborted(ahead.take(), this.#signal).catch((error: unknown) => {
          this.#assertNotAborted();
          if (this.#closed && error instanceof StreamClosed) throw error;
          failure = { error };
          return undefined;
        });
        if (!chunks) break;
        // Not `yield*`, which makes three promises for each event.
        for (const each of pick(await this.#push(chunks, {}, true, ahead.isAtEnd), false)) yield each;
      }
      const closed = await this.close(failure ? { reason: "error", error: failedResponse(failure.error) } : {});
      for (const each of pick(closed, failure !== undefined)) yield each;
      if (failure) throw failure.error;
      return closed;
    } finally {
      this.#ahead?.stop();
      if (!this.#closed) this.#cancel();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel().catch(() => {});
  }

  async #push(chunks: readonly Chunk[], patience: Patience = {}, isPatient = false, isLast = false): Promise<Pushed> {
    this.#assertOpen();
    if (chunks.length === 0) return { events: [] };
    const push = () => {
      const pushed = this.#order.push(chunks, isPatient, isLast).then((answer) => this.#withUndelivered(answer));
      return unlessAborted(pushed, this.#signal);
    };
    return waitFor(push, "stream/push", patience);
  }

  readonly #abort = () => this.#cancel();

  #cancel(): void {
    this.close({ reason: "cancelled" }).catch(() => {});
  }

  #assertNotAborted(): void {
    if (this.#signal?.aborted) throw this.#signal.reason;
  }

  #assertEmits(): void {
    if (!this.opened.emit && !this.passThrough) throw new SidecarError("unsupported", NOT_EMITTING);
  }

  #assertOpen(): void {
    this.#assertNotAborted();
    if (this.#closed) throw new StreamClosed(this.id);
  }
}

function textOf({ events }: Pushed): string {
  return events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
}

/** The documents of a close, without the last one that describes the error of the source: that broke the stream. */
function withoutBreak({ events, chunks = [] }: Pushed): readonly Record<string, unknown>[] {
  if (!events.some((event) => event.type === "error" && event.kind === "network")) return chunks;
  const place = chunks.findLastIndex((each) => "error" in each || each["type"] === "error");
  return chunks.filter((_, number) => number !== place);
}

const NOT_EMITTING = "the stream emits no documents: it was opened without emit, or the sidecar does not know emit";

/** How long `cancel` waits for the sidecar's answer. */
const CANCEL_MS = 500;

const PATIENCE = callOptions({ timeoutMs: pause });
const CLOSE = objectOf({ reason: anything, error: data }); // the sidecar checks the reason

/** Does `work`, and waits for it up to the limit of `Patience`; the work itself continues, and is applied completely. */
async function waitFor<T>(work: () => Promise<T>, method: string, patience: Patience): Promise<T> {
  PATIENCE(patience, `the options of ${method}`);
  const { signal, timeoutMs } = patience;
  if (signal === undefined && timeoutMs === undefined) return work();
  const over = signalOf(signal);
  const waited = unlessAborted(work(), over);
  if (timeoutMs === undefined || timeoutMs === null) return waited;
  return new Promise((resolve, reject) => {
    const endWait = after(timeoutMs, () => reject(new RequestTimeout(method, timeoutMs)));
    waited.then(resolve, reject).finally(endWait);
  });
}
