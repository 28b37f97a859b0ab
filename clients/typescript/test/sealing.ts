// A conversation with thinking that is sealed to everything before it, and the check of a provider
// that refuses a seal that does not fit.

import { createHash } from "node:crypto";

export const BETA = "thinking-binding-controls-2026-08-01";

interface Block {
  readonly type: string;
  signature?: string;
}

interface Body {
  readonly system?: string;
  readonly thinking?: { readonly block_binding?: { readonly prefix_mismatch_behavior?: string } };
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

/** Each signed block, with the seal that fits where it stands. */
function* seals({ system, messages }: Body): Generator<readonly [Block, string]> {
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of typeof content === "string" ? [] : content.entries()) {
      if (block.signature === undefined) continue;
      const bound = JSON.stringify([system ?? null, messages.slice(0, at), content.slice(0, index)]);
      yield [block, createHash("sha256").update(bound).digest("base64")];
    }
  }
}

/** A conversation in which `text` comes before sealed thinking. */
export function sealed(text: string) {
  const answer = () => ({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "text", text },
    ],
  });
  const user = { role: "user", content: "Sure?" };
  const messages = [user, answer(), user, answer(), user];
  const body = { model: "claude-opus-5-5", max_tokens: 9, thinking: { type: "adaptive" }, messages };
  seal(body);
  return body;
}

/** Makes the seals of a conversation fit, and returns them. */
export function seal(body: unknown): string[] {
  const fitting: string[] = [];
  for (const [block, each] of seals(body as Body)) fitting.push((block.signature = each));
  return fitting;
}

/** The words of the refusal; "" if every seal fits, or if the request asks to drop those that do not. */
export function refusal(text: string, beta: string): string {
  const body = JSON.parse(text) as Body;
  const binding = body.thinking?.block_binding;
  if (binding && !beta.includes(BETA)) return "block_binding: Extra inputs are not permitted";
  const fits = [...seals(body)].every(([{ signature }, fitting]) => signature === fitting);
  if (fits || binding?.prefix_mismatch_behavior === "drop_block") return "";
  return "Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
}
