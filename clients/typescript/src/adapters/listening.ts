// Callbacks of the host about an answer, for everything that its SDK has no place for: a call
// that the model wrote as text, removed text, usage that was not asked for.

import type { StreamEvent } from "../stream/events.js";
import type { Message } from "../protocol.js";

export interface ListeningOptions {
  /** Called with each event of an answer, before the SDK gets the text made from it. */
  onEvent?: (event: StreamEvent, answer: AnswerInfo) => void;
  /** Called at the end of an answer with its message; `toolCalls` include the calls found in the text. */
  onMessage?: (message: Message, answer: AnswerInfo) => void;
  /** Called with an error that `onEvent` or `onMessage` throws. */
  onLost?: (error: unknown) => void;
}

/** Identifies an answer, since several may arrive at the same time. */
export interface AnswerInfo {
  readonly streamId: string;
  readonly model?: string;
}

export class Listening {
  readonly #options: ListeningOptions;
  readonly #answer: AnswerInfo;

  constructor(options: ListeningOptions, streamId: string, model?: string | null) {
    this.#options = options;
    this.#answer = { streamId, ...(model && { model }) };
  }

  /** Reports the event, and returns it. */
  readonly event = (event: StreamEvent): StreamEvent => {
    this.#call(() => this.#options.onEvent?.(event, this.#answer));
    return event;
  };

  message(message: Message): void {
    this.#call(() => this.#options.onMessage?.(message, this.#answer));
  }

  /** Calls a listener; its error does not affect the answer. */
  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.onLost?.(error);
    }
  }
}
