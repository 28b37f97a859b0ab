// A response of a model on its way through the sidecar: the class that hosts hold.

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

/** Why a stream is closed, and what is known of a response that failed. */
export interface CloseOptions extends Omit<CloseParams, "streamId" | "error"> {
  error?: HttpFailure<FailedResponse> | null;
}

/** How long a host waits for an answer of a stream: until the signal aborts, or so long. */
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
 * An open stream. Calls may be made without waiting for those before: they are carried
 * out one after the other. When the signal of `openStream` aborts, the stream is closed
 * as `cancelled`; everything but `close` then rejects with the signal's reason.
 */
export class SidecarStream implements AsyncDisposable {
  /** What the sidecar chose: wire, framing, profile, and the policy in force. */
  readonly opened: OpenResult;
  /** There is no sidecar: the text is raw (see the option `passThrough`). */
  readonly passThrough: boolean;
  readonly #core: StreamCore;
  readonly #order: InOrder;
  readonly #settings: Settings;
  readonly #reader: ChunkReader;
  readonly #signal: AbortSignal | undefined;
  #closed: Promise<ClosedStream> | undefined;
  /** What the last bytes gave before a close that was refused: the next answer tells it. */
  #untold: Pushed | undefined;

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
   * Pushes one chunk and gives the events that it makes certain. A chunk is a slice of the
   * body (a string, or bytes: decoded as UTF-8, sent as base64 where `encoding` says so)
   * or a decoded document.
   */
  async push(chunk: unknown, patience: Patience = {}): Promise<StreamEvent[]> {
    return (await this.#push([this.#reader.read(chunk)], patience)).events;
  }

  /** Pushes several chunks at once; gives what pushing them one by one would. */
  async pushAll(chunks: Iterable<unknown>, patience: Patience = {}): Promise<StreamEvent[]> {
    return (
      await this.#push(
        [...chunks].map((chunk) => this.#reader.read(chunk)),
        patience,
      )
    ).events;
  }

  /** The message so far. Changes nothing. */
  async snapshot(patience: Patience = {}): Promise<SnapshotResult> {
    this.#assertOpen();
    return waitFor(
      this.#order.call(() => this.#core.snapshot()),
      "stream/snapshot",
      patience,
    );
  }

  /**
   * Ends the stream: the last events, and the whole message. Later calls give the same. A
   * close that the sidecar refuses ends nothing.
   */
  close(options: CloseOptions = {}, patience: Patience = {}): Promise<ClosedStream> {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#closed ??= this.#end(options);
    return waitFor(this.#closed, "stream/close", patience);
  }

  #end({ error, ...options }: CloseOptions): Promise<ClosedStream> {
    const params = { ...options, ...(error && { error: withPlainHeaders(error) }) };
    // As a pipe, it waits however many requests wait.
    const closed = this.#order.call(async () => {
      const rest = this.#reader.end();
      if (rest) this.#untold = this.#told(await this.#core.push([rest]));
      const answer = this.#told(await this.#core.close(params));
      this.#core.forget();
      return answer;
    }, true);
    closed.catch((refusal: unknown) => {
      if (refusal instanceof RefusedError) this.#goOn(options.reason === "cancelled");
    });
    return closed;
  }

  /** The stream is as open as before the close that was refused. */
  #goOn(wasCancelled: boolean): void {
    this.#closed = undefined;
    this.#signal?.addEventListener("abort", this.#abort, { once: true });
    if (this.#signal?.aborted && !wasCancelled) this.#cancel();
  }

  /** An answer with what has not been told yet in front of it. */
  #told<T extends Pushed>(answer: T): T {
    const before = this.#untold;
    if (!before) return answer;
    this.#untold = undefined;
    const chunks = answer.chunks && { chunks: [...(before.chunks ?? []), ...answer.chunks] };
    return { ...answer, events: [...before.events, ...answer.events], ...chunks };
  }

  /** Ends the stream because the user stopped it. */
  cancel(patience: Patience = {}): Promise<ClosedStream> {
    return this.close({ reason: "cancelled" }, patience);
  }

  /**
   * Pushes what `source` gives, as it comes, and gives the events up to the last; then
   * the stream is closed, and `close()` gives the message. Reads ahead no further than
   * `readAhead`, so that a consumer that stops stops the source. A source that throws
   * ends the stream with an `error` event; the error is thrown behind the last event.
   */
  pipe(source: Source): AsyncGenerator<StreamEvent, ClosedStream, void> {
    return this.#pipe(source, ({ events }) => events);
  }

  /**
   * The same, of a stream that was opened with `emit`: gives the documents of the clean
   * stream (protocol.md, "The way through"). `onEvent` is called with each event.
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
   * The same as the body of a response: server-sent events, a document each. Without a
   * sidecar it is the text that was pushed, as it is.
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
        // Not `yield*`, which makes three promises of each event.
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
    const pushed = this.#order.push(chunks, isPatient, isLast).then((answer) => this.#told(answer));
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

  /** Does not wait longer than the host wants to. */
  async #unlessAborted<T>(work: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (!signal) return work;
    work.catch(() => {}); // somebody else's when the signal was first
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

/** Waits no longer than the host wants to; the work itself goes on, and is applied whole. */
async function waitFor<T>(work: Promise<T>, method: string, { signal, timeoutMs }: Patience): Promise<T> {
  if (!signal && timeoutMs === undefined) return work;
  work.catch(() => {}); // somebody else's when the wait is over
  const waits = [...(signal ? [signal] : []), ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])];
  const over = AbortSignal.any(waits);
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.aborted ? signal.reason : new RequestTimeout(method, timeoutMs ?? 0));
    if (over.aborted) return stop();
    over.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => over.removeEventListener("abort", stop));
  });
}
