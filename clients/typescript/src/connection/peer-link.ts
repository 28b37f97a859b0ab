// Shakes hands with a sidecar that was just started, and stays its link: or gives the error
// that says why not. A peer that speaks nonsense, hangs or ends is killed, and its link is
// lost with what it had written to standard error.

import { ConnectionLost, RefusedError, RequestTimeout, UnsupportedProtocol, type Ending } from "../errors.js";
import { FrameReader } from "./frames.js";
import { Link, type ServerInfo } from "./link.js";
import { MessageConnection } from "./message-connection.js";
import type { Peer } from "./peer.js";
import { PROTOCOL_VERSION, type Capabilities, type ConnectionOptions } from "../protocol.js";

export interface HandshakeOptions extends ConnectionOptions {
  readonly startTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
}

/** So long a peer may live on that has closed its output. */
const CLOSED_MS = 500;

/** A link that owns its peer. */
export class PeerLink extends Link {
  readonly peer: Peer;
  readonly #say: (method: string) => Promise<void>;
  readonly #patienceMs: number;

  constructor(peer: Peer, connection: MessageConnection, patienceMs: number) {
    super(connection);
    this.peer = peer;
    this.#say = (method) => connection.sendNotification(method);
    this.#patienceMs = patienceMs;
  }

  override async end(): Promise<void> {
    const options = { timeoutMs: this.#patienceMs };
    const asked = this.request("shutdown", undefined as never, options);
    await super.end();
    await asked.catch(() => {});
    await this.#say("exit").catch(() => {});
    await this.peer.end(this.#patienceMs);
  }

  /**
   * Answers come in the order of the requests, so the first that is late is the one that
   * the peer hangs on: it is of no use to anybody any more.
   */
  protected override timedOut(error: RequestTimeout): void {
    const stderr = this.peer.stderr.toString();
    this.lose(new ConnectionLost(`the sidecar hangs: ${error.message}`, { stderr, cause: error }));
    this.peer.kill();
  }

  /** Its end, which says more, is near. */
  protected override broken(): void {
    void this.peer.end(CLOSED_MS);
  }
}

/** Shakes hands with `peer`; rejects with ConnectionLost, RequestTimeout or UnsupportedProtocol. */
export async function connect(peer: Peer, options: HandshakeOptions): Promise<PeerLink> {
  const connection = new MessageConnection((frame) => peer.write(frame));
  const link = new PeerLink(peer, connection, options.shutdownTimeoutMs);
  watch(link, peer, connection);
  try {
    const answer = await shakeHands(link, options);
    link.capabilities = capabilitiesOf(answer);
    link.serverInfo = serverInfoOf(answer);
    await connection.sendNotification("initialized", {});
    return link;
  } catch (error) {
    peer.kill();
    if (!(error instanceof RequestTimeout)) throw error;
    throw new RequestTimeout(error.method, error.timeoutMs, lastLineOf(peer.stderr.toString()));
  }
}

/** Loses `link` when the peer ends, and ends the peer when it speaks nonsense. */
function watch(link: Link, peer: Peer, connection: MessageConnection): void {
  const frames = new FrameReader();
  const take = (data: Uint8Array) => {
    if (link.isLost) return;
    try {
      for (const message of frames.push(data)) connection.take(message);
    } catch (cause) {
      const stderr = peer.stderr.toString();
      const what = (cause as Error).message;
      link.lose(new ConnectionLost(`the sidecar does not speak the protocol: ${what}`, { stderr, cause }));
      peer.kill();
    }
  };
  peer.listen(take, () => void peer.end(CLOSED_MS)); // so it has to end, too
  void peer.ended.then((ending) => link.lose(new ConnectionLost(epitaph(ending), ending)));
}

function epitaph({ exitCode, signal, cause, stderr }: Ending): string {
  if (cause instanceof Error) return `the sidecar cannot be started: ${cause.message}`;
  const how = signal === null ? `with code ${exitCode}` : `by ${signal}`;
  const last = lastLineOf(stderr);
  return `the sidecar ended ${how}${last ? `: ${last}` : ""}`;
}

function lastLineOf(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

/** Gives what `initialize` is answered with. */
async function shakeHands(link: Link, options: HandshakeOptions): Promise<unknown> {
  const { policy, limits, startTimeoutMs } = options;
  const ours = { protocolVersion: PROTOCOL_VERSION, ...(policy && { policy }), ...(limits && { limits }) };
  const params = {
    processId: globalThis.process?.pid ?? null,
    clientInfo: { name: "stream-sidecar-typescript" },
    capabilities: {},
    initializationOptions: { streamSidecar: ours },
  };
  try {
    return await link.request("initialize", params, { timeoutMs: startTimeoutMs });
  } catch (error) {
    if (!(error instanceof RefusedError) || error.kind !== "unsupported-version") throw error;
    throw new UnsupportedProtocol(error.message, (error.data["supported"] as number[] | undefined) ?? []);
  }
}

/** Name and version of what answered. */
export function serverInfoOf(initializeResult: unknown): ServerInfo | undefined {
  return (initializeResult as { serverInfo?: ServerInfo } | null)?.serverInfo;
}

/** Our part of what `initialize` gave; throws UnsupportedProtocol. */
export function capabilitiesOf(initializeResult: unknown): Capabilities {
  const result = initializeResult as { capabilities?: { experimental?: { streamSidecar?: Capabilities } } } | null;
  const found = result?.capabilities?.experimental?.streamSidecar;
  if (found === undefined) throw new UnsupportedProtocol("the process is no stream-sidecar", []);
  const version = found.protocolVersion;
  if (version === PROTOCOL_VERSION) return found;
  const message = `the sidecar speaks version ${version} of the protocol, and this client ${PROTOCOL_VERSION}`;
  throw new UnsupportedProtocol(message, [version]);
}
