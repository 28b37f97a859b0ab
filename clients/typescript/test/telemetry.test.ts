// The OpenTelemetry attributes of a response are the same in every client (tests/data).

import { join } from "node:path";
import { expect, test } from "vitest";
import { outputMessages, telemetryAttributes } from "../src/adapters/telemetry.js";
import type { CloseResult } from "../src/protocol.js";
import { linesOf, ROOT } from "./support.js";

interface Row {
  readonly name: string;
  readonly closed: Pick<CloseResult, "message" | "stats">;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const rows = linesOf(join(ROOT, "tests", "data", "telemetry.jsonl")) as Row[];

test.for(rows)("$name", ({ closed, attributes }) => {
  const told = telemetryAttributes(closed, { timeToFirstChunk: 0.25, content: true });
  const messages = outputMessages(closed.message);
  expect({ ...told, "gen_ai.output.messages": messages }).toEqual(attributes);
  expect(JSON.parse(String(told["gen_ai.output.messages"]))).toEqual(messages);
});

test("the conversation is included only on request", () => {
  const [row] = rows;
  const told = row && telemetryAttributes(row.closed);
  expect(told).not.toHaveProperty(["gen_ai.output.messages"]);
  expect(told).not.toHaveProperty(["gen_ai.response.time_to_first_chunk"]);
});
