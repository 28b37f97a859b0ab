// Makes the handshake with a sidecar that was just started, and returns a link to it, or an
// error. A peer that does not speak the protocol or hangs is killed, and its link is lost; the
// loss has the peer's standard error.

import { ConnectionLost, RefusedError, RequestTimeout, UnsupportedProtocol, type Ending } from "../errors.js";
import { FrameReader } from "./frames.js";
import { Link, type ServerInfo } from "./link.js";
import { MessageConnection } from "./message-connection.js";
import type { Peer } from "./peer.js";
import { PROTOCOL_VERSION, type Capabilities, type ConnectionOptions, type LimitsPatch } from "../protocol.js";

export interface HandshakeOptions extends ConnectionOptions {
  readonly startTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
}

/** How long a peer that has closed its output may live. */
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
   * Answers come in the order of the requests, so the peer hangs on the first late request, and
   * no other request will be answered.
   */
  protected override timedOut(error: RequestTimeout): void {
    const stderr = this.peer.stderr.toString();
    this.lose(new ConnectionLost(`the sidecar hangs: ${error.message}`, { stderr, cause: error }));
    this.peer.kill();
  }

  /** Waits for the end of the peer, whose loss says more. */
  protected override broken(): void {
    void this.peer.end(CLOSED_MS);
  }
}

/** Makes the handshake with `peer`. Rejects with ConnectionLost, RequestTimeout or UnsupportedProtocol. */
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

/** Reports the end of the peer to `link`, and kills a peer that does not speak the protocol. */
function watch(link: Link, peer: Peer, connection: MessageConnection): void {
  const frames = new FrameReader();
  const receive = (data: Uint8Array) => {
    if (link.isLost) return;
    try {
      for (const message of frames.push(data)) connection.receive(message);
    } catch (cause) {
      const stderr = peer.stderr.toString();
      const what = (cause as Error).message;
      link.lose(new ConnectionLost(`the sidecar does not speak the protocol: ${what}`, { stderr, cause }));
      peer.kill();
    }
  };
  peer.listen(receive, () => void peer.end(CLOSED_MS)); // without its output the peer is useless
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

/** Sends `initialize` and returns its result. */
async function shakeHands(link: Link, options: HandshakeOptions): Promise<unknown> {
  const { policy, limits, startTimeoutMs } = options;
  const ours = {
    protocolVersion: PROTOCOL_VERSION,
    ...(policy && { policy }),
    ...(limits && { limits: written(limits) }),
  };
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

/** The limits in JSON, which has no Infinity: null would be the default. */
function written(limits: LimitsPatch): LimitsPatch {
  const numbers = Object.entries(limits).map(([name, value]) => [name, value === Infinity ? MOST : value]);
  return Object.fromEntries(numbers) as LimitsPatch;
}

const MOST = Number.MAX_SAFE_INTEGER;

/** Name and version of the sidecar that answered. */
export function serverInfoOf(initializeResult: unknown): ServerInfo | undefined {
  return (initializeResult as { serverInfo?: ServerInfo } | null)?.serverInfo;
}

/** Our part of the result of `initialize`. Throws UnsupportedProtocol. */
export function capabilitiesOf(initializeResult: unknown): Capabilities {
  const result = initializeResult as { capabilities?: { experimental?: { streamSidecar?: Capabilities } } } | null;
  const found = result?.capabilities?.experimental?.streamSidecar;
  if (found === undefined) throw new UnsupportedProtocol("the process is not a stream-sidecar", []);
  const version = found.protocolVersion;
  if (version === PROTOCOL_VERSION) return found;
  const message = `the sidecar speaks version ${version} of the protocol, but this client speaks ${PROTOCOL_VERSION}`;
  throw new UnsupportedProtocol(message, [version]);
}
