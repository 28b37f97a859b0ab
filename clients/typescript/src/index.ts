import { described, ways } from "./process/locate.js";
import { provide } from "./process/processes.js";
import { starter } from "./process/start.js";

export type { Cancellation, CancellationToken } from "./cancellation.js";
export * from "./errors.js";
export type { ClosedStream, StreamEvent, UnknownEvent } from "./stream/events.js";
export type { HeadersLike, HttpFailure } from "./stream/headers.js";
export type { Way, WayName } from "./process/locate.js";
export type { Located } from "./process/processes.js";
export type { RpcConnection, ServerInfo } from "./connection/link.js";
export type { ClientOptions, ReadText, SharedOptions, SidecarOptions, SidecarState, StartOptions } from "./options.js";
export * from "./protocol.js";
export type { ReadableLike, Source } from "./stream/read-ahead.js";
export { SidecarPool } from "./pool.js";
export { Sidecar, type CallOptions, type NormalizedMessage, type Subscription } from "./sidecar.js";
export type { CloseOptions, Patience, SidecarStream } from "./stream/stream.js";

provide({
  starter,
  locate: (options) => {
    const found = ways(options);
    return { ways: found, toString: () => described(found) };
  },
});
