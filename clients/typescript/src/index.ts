import { described, ways } from "./locate.js";
import { provide } from "./processes.js";
import { starter } from "./start.js";

export * from "./errors.js";
export type { ClosedStream, StreamEvent, UnknownEvent } from "./events.js";
export type { HeadersLike, HttpFailure } from "./headers.js";
export type { Way, WayName } from "./locate.js";
export type { Located } from "./processes.js";
export type { RpcConnection, ServerInfo } from "./link.js";
export type { ClientOptions, ReadText, SidecarOptions, SidecarState, StartOptions } from "./options.js";
export * from "./protocol.js";
export type { Source } from "./read-ahead.js";
export { Sidecar, type CallOptions, type NormalizedMessage, type SharedOptions } from "./sidecar.js";
export type { CloseOptions, Patience, SidecarStream } from "./stream.js";

provide({
  starter,
  locate: (options) => {
    const found = ways(options);
    return { ways: found, toString: () => described(found) };
  },
});
