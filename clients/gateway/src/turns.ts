// Counts what was removed from an answer, for one line of the gateway's log.

import type { StreamEvent } from "stream-sidecar";

export class Turn {
  #reasoning = 0;
  #calls = 0;
  #results = 0;

  count(event: StreamEvent): void {
    if (event.type === "reasoning-delta" && event.source === "tag") this.#reasoning += event.text.length;
    if (event.type === "tool-call" && event.origin === "text") this.#calls += 1;
    if (event.type === "tool-result" && event.source !== "server") this.#results += 1;
  }

  toString(): string {
    const parts = [
      this.#reasoning > 0 && `${this.#reasoning} characters of reasoning`,
      this.#calls > 0 && counted(this.#calls, "call written as text", "calls written as text"),
      this.#results > 0 && counted(this.#results, "result that the model wrote", "results that the model wrote"),
    ].filter((each) => each !== false);
    return parts.length > 0 ? parts.join(", ") : "nothing";
  }
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
