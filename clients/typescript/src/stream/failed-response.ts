// What the sidecar is told of the error that ended a response.

import type { HttpFailure } from "./headers.js";
import type { FailedResponse } from "../protocol.js";

/** Fields of errors: of Node.js and undici, of providers' SDKs, of the Vercel AI SDK. */
interface Told {
  message?: string;
  code?: unknown;
  cause?: { code?: unknown } | null;
  status?: unknown;
  statusCode?: unknown;
  responseHeaders?: Record<string, string>;
  responseBody?: unknown;
  error?: unknown;
}

/** A provider's error has a status and a body; a transport's is its words, and its code (ECONNRESET ...). */
export function failedResponse(error: unknown): HttpFailure<FailedResponse> {
  const told = (error ?? {}) as Told;
  const { message = String(error), responseHeaders: headers } = told;
  const status = told.status ?? told.statusCode;
  if (typeof status === "number" && status >= 400) {
    return { status, body: told.responseBody ?? told.error ?? message, ...(headers && { headers }) };
  }
  const code = told.code ?? told.cause?.code;
  const isNew = typeof code === "string" && !message.includes(code);
  return { body: isNew ? `${message} (${code})` : message };
}
