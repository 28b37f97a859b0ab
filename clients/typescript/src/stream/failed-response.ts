// Describes the error that ended a response, for the sidecar.

import type { HttpFailure } from "./headers.js";
import type { FailedResponse } from "../protocol.js";

/** Fields of errors: of Node.js and undici, of providers' SDKs, of the Vercel AI SDK. */
interface ErrorFields {
  message?: string;
  code?: unknown;
  cause?: { code?: unknown } | null;
  status?: unknown;
  statusCode?: unknown;
  responseHeaders?: Record<string, string>;
  responseBody?: unknown;
  error?: unknown;
}

/** A provider's error becomes its status and body; a transport's error its message and code (ECONNRESET ...). */
export function failedResponse(error: unknown): HttpFailure<FailedResponse> {
  const fields = (error ?? {}) as ErrorFields;
  const { message = String(error), responseHeaders: headers } = fields;
  const status = fields.status ?? fields.statusCode;
  if (typeof status === "number" && status >= 400) {
    return { status, body: fields.responseBody ?? fields.error ?? message, ...(headers && { headers }) };
  }
  const code = fields.code ?? fields.cause?.code;
  const isNew = typeof code === "string" && !message.includes(code);
  return { body: isNew ? `${message} (${code})` : message };
}
