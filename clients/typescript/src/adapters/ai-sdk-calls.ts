// The calls of a turn as parts of the Vercel AI SDK.
//
// The SDK runs the client's tool at `tool-input-available`, so that this part waits for the
// end of the turn, which tells what is to be run. A call whose input has begun and which is
// not, ends with `tool-input-error`, as the SDK does itself with calls of unknown tools. What
// was found in text is no call of a tool at all, but data.

import type { Retract, ToolCall, ToolCallDelta, ToolResult } from "../protocol.js";
import type { Claim, SidecarUIMessageChunk } from "./ai-sdk-chunks.js";
import { isOfServer, objection, objectionOfEnd, type TurnEnd } from "./turn.js";

/** A call whose input has begun and not ended; `text`: its arguments so far. */
interface OpenInput {
  readonly toolName: string;
  text: string;
  /** The end of it that no part has carried yet. */
  unsent: string;
  /** Its output, where the server's result has come before its call. */
  output?: SidecarUIMessageChunk;
  /** It is whole, and executable unless the turn's end says otherwise. */
  call?: ToolCall;
}

const LONG_ID = 256;

export class Calls {
  readonly #dynamic: boolean;
  readonly #sendReasoning: boolean;
  /** Ids of calls that have a tool's part, by block. */
  readonly #calls = new Map<number, string>();
  readonly #taken = new Set<string>();
  /** Blocks of calls by the provider's id: the last one that had it. */
  readonly #latest = new Map<string, number>();
  readonly #open = new Map<number, OpenInput>();
  readonly #claims = new Map<number, Claim>();

  constructor({ dynamicTools, sendReasoning }: { dynamicTools: boolean; sendReasoning: boolean }) {
    this.#dynamic = dynamicTools;
    this.#sendReasoning = sendReasoning;
  }

  retract({ blocks, reason }: Retract): SidecarUIMessageChunk[] {
    const toolCallIds = blocks.flatMap((block) => this.#calls.get(block) ?? []);
    const ids = blocks.filter((block) => !this.#calls.has(block)).map(String);
    const ended = blocks.flatMap((block) => this.#endInput(block, `the call was retracted: ${reason}`));
    const claims = blocks.flatMap((block) => {
      const claim = this.#claims.get(block);
      return claim ? [this.#claim({ ...claim, retracted: reason })] : [];
    });
    return [...ended, ...claims, { type: "data-retract", data: { ids, toolCallIds } }];
  }

  /** The provider's id, unless another call of this message has it already. */
  #idOf(block: number, toolCallId: string): string {
    const known = this.#calls.get(block);
    if (known !== undefined) return known;
    let id = toolCallId;
    while (this.#taken.has(id)) id += `#${block}`;
    this.#calls.set(block, id);
    this.#taken.add(id);
    this.#latest.set(toolCallId, block);
    return id;
  }

  delta({ block, toolCallId = "", name = "", argumentsDelta: text }: ToolCallDelta): SidecarUIMessageChunk[] {
    const input = this.#open.get(block);
    if (!input) return this.#begin(block, { toolCallId, name, text });
    input.text += text;
    input.unsent += text;
    return this.#send(block, input);
  }

  #begin(block: number, { toolCallId, name, text }: { toolCallId: string; name: string; text: string }) {
    const input: OpenInput = { toolName: name, text, unsent: text };
    this.#open.set(block, input);
    const start = { type: "tool-input-start", toolCallId: this.#idOf(block, toolCallId), toolName: name } as const;
    return [{ ...start, dynamic: this.#dynamic }, ...this.#send(block, input)];
  }

  /** Every delta carries the id, so that behind a long one there is as much of the input. */
  #send(block: number, input: OpenInput): SidecarUIMessageChunk[] {
    const toolCallId = this.#calls.get(block) ?? "";
    if (toolCallId.length > LONG_ID && input.unsent.length < toolCallId.length) return [];
    const inputTextDelta = input.unsent;
    input.unsent = "";
    return [{ type: "tool-input-delta", toolCallId, inputTextDelta }];
  }

  call(call: ToolCall): SidecarUIMessageChunk[] {
    const { block = -1, origin, toolCallId, name, arguments: text } = call;
    const input = this.#open.get(block);
    if (input?.output) return [this.#available(call, true), input.output];
    if (origin !== "structured" && !input) return this.#isShown(call) ? [this.#claim(claimOf(call))] : [];
    if (isOfServer(call)) return [this.#available(call)];
    if (!call.executable) return [this.#unavailable(call, objection(call))];
    const begun = input ? [] : this.#begin(block, { toolCallId, name, text });
    this.#open.set(block, { toolName: name, text, unsent: "", call });
    return begun;
  }

  /** What was in the reasoning is shown where the reasoning is. */
  #isShown({ channel }: ToolCall): boolean {
    return channel !== "reasoning" || this.#sendReasoning;
  }

  #claim(claim: Claim): SidecarUIMessageChunk {
    this.#claims.set(claim.block, claim);
    return { type: "data-claim", id: String(claim.block), data: claim };
  }

  #available(call: ToolCall, providerExecuted = call.executor === "server"): SidecarUIMessageChunk {
    const input = call.input ?? call.arguments;
    return { type: "tool-input-available", input, ...this.#part(call), providerExecuted };
  }

  #unavailable(call: ToolCall, errorText: string): SidecarUIMessageChunk {
    const input = call.state === "complete" ? (call.input ?? call.arguments) : call.arguments;
    const providerExecuted = call.executor === "server";
    return { type: "tool-input-error", input, errorText, ...this.#part(call), providerExecuted };
  }

  /** What all ends of an input have; it is open no more. */
  #part({ block = -1, toolCallId, name, kind, executable, awaits }: ToolCall) {
    this.#open.delete(block);
    return {
      toolCallId: this.#idOf(block, toolCallId),
      toolName: name,
      dynamic: this.#dynamic,
      providerMetadata: { streamSidecar: { block, kind, executable, awaits } },
    };
  }

  /** Ends an input that will never be available; nothing where none is open. */
  #endInput(block: number, errorText: string): SidecarUIMessageChunk[] {
    const input = this.#open.get(block);
    if (!input) return [];
    if (input.call) return [this.#unavailable({ ...input.call, executable: false }, errorText)];
    this.#open.delete(block);
    const { toolName, text, output } = input;
    const toolCallId = this.#calls.get(block) ?? "";
    const end = { toolCallId, toolName, input: text, errorText, dynamic: this.#dynamic };
    return [{ type: "tool-input-error", ...end }, ...(output ? [output] : [])];
  }

  /** An output needs the call it belongs to, which the server has run; without one it is data. */
  result({ toolCallId, name, content, isError, source }: ToolResult): SidecarUIMessageChunk[] {
    const block = toolCallId === undefined ? undefined : this.#latest.get(toolCallId);
    if (source !== "server" || block === undefined) {
      return [{ type: "data-tool-result", data: { toolCallId, name, content, isError, source } }];
    }
    const part = { toolCallId: this.#calls.get(block) ?? "", dynamic: this.#dynamic, providerExecuted: true };
    const output: SidecarUIMessageChunk = isError
      ? { type: "tool-output-error", errorText: textOf(content), ...part }
      : { type: "tool-output-available", output: content ?? null, ...part };
    const input = this.#open.get(block);
    if (!input) return [output];
    if (input.call) return [this.#available({ ...input.call, executable: false, awaits: "none" }, true), output];
    input.output = output;
    return [];
  }

  /** Inputs of a turn that was cancelled stay as they are: `abort` ends them, and no reader goes on with it. */
  end({ finish, executable }: TurnEnd): SidecarUIMessageChunk[] {
    const isCancelled = finish?.reason === "cancelled";
    return [...this.#open].flatMap(([block, { call }]) => {
      if (call && executable.has(block)) return [this.#available(call)];
      return isCancelled ? [] : this.#endInput(block, objectionOfEnd(finish));
    });
  }
}

function claimOf(call: ToolCall): Claim {
  const { block = -1, toolCallId, name, state, origin, kind, declared, dialect } = call;
  const input = call.input ?? call.arguments;
  const told = { ...(declared === undefined ? {} : { declared }), ...(dialect === undefined ? {} : { dialect }) };
  return { block, toolCallId, toolName: name, input, state, origin, kind, ...told };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? null);
}
