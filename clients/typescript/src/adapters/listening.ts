// Callbacks of the host about an answer, for everything that its SDK has no place for: a call
// that the model wrote as text, removed text, usage that was not asked for.

import type { StreamEvent } from "../stream/events.js";
import { callback, type Checks } from "../checks.js";
import { SidecarError } from "../errors.js";
import type { Diagnostic, Message, PolicyPatch } from "../protocol.js";
import { safely } from "../warnings.js";
import type { Losses } from "./losses.js";

export interface ListeningOptions {
  /** Called with each event of an answer, before the SDK gets the text made from it. */
  onEvent?: (event: StreamEvent, answer: AnswerInfo) => void;
  /** Called at the end of an answer with its message; `toolCalls` include the calls found in the text. */
  onMessage?: (message: Message, answer: AnswerInfo) => void;
}

export const LISTENING: Checks<ListeningOptions> = { onEvent: callback, onMessage: callback };

/** Identifies an answer, since several may arrive at the same time. */
export interface AnswerInfo {
  readonly streamId: string;
  readonly model?: string;
}

/** The policy of an answer that streams: if nobody listens for its message, this needs no text, however long it is. */
export function heardPolicy(options: Pick<ListeningOptions, "onMessage"> & { policy?: PolicyPatch }): PolicyPatch {
  return { ...(!options.onMessage && { message: { parts: false } }), ...options.policy };
}

/** Whether the text of a document was not read; the diagnostic of one without text is no warning. */
export function isTooLong(event: StreamEvent): event is Diagnostic {
  return event.type === "diagnostic" && event.code === "document-limit" && event.severity === "warning";
}

export class Listening {
  readonly #options: ListeningOptions;
  readonly #losses: Losses;
  readonly #answer: AnswerInfo;

  constructor(options: ListeningOptions, losses: Losses, streamId: string, model?: string | null) {
    this.#options = options;
    this.#losses = losses;
    this.#answer = { streamId, ...(model && { model }) };
  }

  /** Reports the event, and returns it. A document that was too long passes with its text as it came. */
  readonly event = (event: StreamEvent): StreamEvent => {
    if (isTooLong(event)) this.#losses.report(new SidecarError("unsupported", event.message));
    this.#call(() => this.#options.onEvent?.(event, this.#answer));
    return event;
  };

  message(message: Message): void {
    this.#call(() => this.#options.onMessage?.(message, this.#answer));
  }

  /** Calls a listener; its error does not affect the answer. */
  #call(listener: () => unknown): void {
    safely(listener, (error) => this.#losses.ofListener(error));
  }
}
