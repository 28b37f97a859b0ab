// Starts one process and makes the handshake: from a command line to a Link, or to an error.

import { connect, type HandshakeOptions, type PeerLink } from "../connection/peer-link.js";
import { SidecarProcess, type ProcessOptions } from "./process.js";

export interface LaunchOptions extends ProcessOptions, HandshakeOptions {
  readonly logLevel?: string | undefined;
}

/** Starts `command`. Rejects with ConnectionLost, RequestTimeout or UnsupportedProtocol. */
export async function launch(command: readonly string[], options: LaunchOptions): Promise<PeerLink> {
  const logging = options.logLevel === undefined ? [] : ["--log-level", options.logLevel];
  return connect(new SidecarProcess([...command, ...logging], options), options);
}
