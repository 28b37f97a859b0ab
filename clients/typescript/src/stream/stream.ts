// A response of a model that goes through the sidecar: the class that hosts use.

import { sseOf } from "./body-format.js";
import { ChunkReader, type Chunk } from "./chunks.js";
import { RefusedError, RequestTimeout, StreamClosed } from "../errors.js";
import type { ClosedStream, Pushed, StreamEvent } from "./events.js";
import { failedResponse } from "./failed-response.js";
import { InOrder } from "./in-order.js";
import type { Gate } from "../connection/gate.js";
import type { Settings } from "../options.js";
import { withPlainHeaders, type HttpFailure } from "./headers.js";
import type { CloseParams, FailedResponse, OpenParams, OpenResult, SnapshotResult } from "../protocol.js";
import { ReadAhead, type Source } from "./read-ahead.js";
import type { StreamCore } from "./remote-stream.js";

/** Why a stream is closed, and what is known about a response that failed. */
export interface CloseOptions extends Omit<CloseParams, "streamId" | "error"> {
  error?: HttpFailure<FailedResponse> | null;
}

/** How long a host waits for an answer of a stream: until the signal aborts, or until the time limit. */
export interface Patience {
  readonly signal?: AbortSignal;
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
    return waitFor(
      this.#order.call(() => this.#core.snapshot()),
      "stream/snapshot",
      patience,
    );
  }

  /**
   * Ends the stream, and returns the last events and the whole message. Later calls return the
   * same. If the sidecar refuses the close, the stream stays open.
   */
  close(options: CloseOptions = {}, patience: Patience = {}): Promise<ClosedStream> {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#closed ??= this.#end(options);
    return waitFor(this.#closed, "stream/close", patience);
  }

  #end({ error, ...options }: CloseOptions): Promise<ClosedStream> {
    const params = { ...options, ...(error && { error: withPlainHeaders(error) }) };
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

  /** Ends the stream because the user stopped it. */
  cancel(patience: Patience = {}): Promise<ClosedStream> {
    return this.close({ reason: "cancelled" }, patience);
  }

  /**
   * Pushes the items of `source` as they arrive, and yields all events. At the end the stream is
   * closed, and `close()` returns the message. It reads ahead only up to `readAhead`, so that the
   * source stops if the consumer stops. If the source throws, the stream ends with an `error`
   * event, and the error is thrown after the last event.
   */
  pipe(source: Source): AsyncGenerator<StreamEvent, ClosedStream, void> {
    return this.#pipe(source, ({ events }) => events);
  }

  /**
   * `pipe` for a stream opened with `emit`: yields the documents of the clean stream
   * (protocol.md, "The way through"). `onEvent` is called with each event.
   */
  pipeChunks(
    source: Source,
    onEvent?: (event: StreamEvent) => void,
  ): AsyncGenerator<Record<string, unknown>, ClosedStream, void> {
    return this.#pipe(source, ({ events, chunks = [] }) => {
      if (onEvent) for (const event of events) onEvent(event);
      return chunks;
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
      const text = write(pushed);
      return text === "" ? [] : [encoder.encode(text)];
    });
    const end = this.passThrough ? "" : format.end(false, true);
    if (end !== "") yield encoder.encode(end);
    return closed;
  }

  async *#pipe<T>(source: Source, pick: (pushed: Pushed) => Iterable<T>): AsyncGenerator<T, ClosedStream, void> {
    this.#assertOpen();
    const ahead = new ReadAhead(source, (chunk) => this.#reader.read(chunk), this.#settings.readAhead);
    let failure: { readonly error: unknown } | undefined;
    try {
      for (;;) {
        const chunks = await this.#unlessAborted(ahead.take()).catch((error: unknown) => {
          this.#assertNotAborted();
          failure = { error };
          return undefined;
        });
        if (!chunks) break;
        // Not `yield*`, which makes three promises for each event.
        for (const each of pick(await this.#push(chunks, {}, true, ahead.isAtEnd))) yield each;
      }
      const closed = await this.close(failure ? { reason: "error", error: failedResponse(failure.error) } : {});
      for (const each of pick(closed)) yield each;
      if (failure) throw failure.error;
      return closed;
    } finally {
      ahead.stop();
      if (!this.#closed) this.#cancel();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel().catch(() => {});
  }

  async #push(chunks: readonly Chunk[], patience: Patience = {}, isPatient = false, isLast = false): Promise<Pushed> {
    this.#assertOpen();
    if (chunks.length === 0) return { events: [] };
    const pushed = this.#order.push(chunks, isPatient, isLast).then((answer) => this.#withUndelivered(answer));
    return waitFor(this.#unlessAborted(pushed), "stream/push", patience);
  }

  readonly #abort = () => this.#cancel();

  #cancel(): void {
    this.cancel().catch(() => {});
  }

  #assertNotAborted(): void {
    if (this.#signal?.aborted) throw this.#signal.reason;
  }

  #assertOpen(): void {
    this.#assertNotAborted();
    if (this.#closed) throw new StreamClosed(this.id);
  }

  /** Waits for `work`, but no longer than until the signal aborts. */
  async #unlessAborted<T>(work: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (!signal) return work;
    work.catch(() => {}); // its error is ignored if the signal aborts first
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason as Error);
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      const settled = () => signal.removeEventListener("abort", abort);
      work.then(resolve, reject).finally(settled);
    });
  }
}

function textOf({ events }: Pushed): string {
  return events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
}

/** Waits for `work` up to the limit of `Patience`; the work itself continues, and is applied completely. */
async function waitFor<T>(work: Promise<T>, method: string, { signal, timeoutMs }: Patience): Promise<T> {
  if (!signal && timeoutMs === undefined) return work;
  work.catch(() => {}); // its error is ignored after the wait
  const waits = [...(signal ? [signal] : []), ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])];
  const over = AbortSignal.any(waits);
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.aborted ? signal.reason : new RequestTimeout(method, timeoutMs ?? 0));
    if (over.aborted) return stop();
    over.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => over.removeEventListener("abort", stop));
  });
}
