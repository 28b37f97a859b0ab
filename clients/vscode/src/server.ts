// The language server of this window. It is started with the window, restarted when a setting
// changes, and stopped with the window. If there is no sidecar, one message says so.

import type * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { showError, Unavailable } from "./problems.js";

/** Makes a client, without starting it. */
export type MakeClient = () => Promise<BaseLanguageClient>;

export class Server implements vscode.Disposable {
  #client: BaseLanguageClient | undefined;
  /** The last start or stop; the next one waits for it. */
  #turn: Promise<void> = Promise.resolve();
  readonly #make: MakeClient;
  readonly #output: vscode.LogOutputChannel;

  constructor(make: MakeClient, output: vscode.LogOutputChannel) {
    this.#make = make;
    this.#output = output;
  }

  /** The running client; undefined if the start failed, which the user has seen. */
  async client(): Promise<BaseLanguageClient | undefined> {
    await this.#turn;
    return this.#client;
  }

  /** Starts or restarts the server. */
  restart(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await this.#end();
      try {
        this.#client = quietWhenStopped(await this.#make());
        await this.#client.start();
      } catch (error) {
        await this.#end();
        this.#report(error);
      }
    });
    return this.#turn;
  }

  async #end(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.dispose().catch((error: unknown) => this.#output.warn(String(error)));
  }

  #report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#output.error(message);
    for (const line of triedIn(error)) this.#output.error(`  tried ${line}`);
    const isNotFound = error instanceof Error && error.name === "NotFound";
    void showError(isNotFound ? error : new Unavailable(message));
  }

  dispose(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#end());
    return this.#turn;
  }
}

function triedIn(error: unknown): readonly string[] {
  return (error as { tried?: readonly string[] }).tried ?? [];
}

/**
 * A client that shows the user nothing while it starts or stops: whatever was asked for is asked again after the
 * start, and `Server` reports a start that failed.
 */
function quietWhenStopped<T extends BaseLanguageClient>(client: T): T {
  const log = client.error.bind(client);
  client.error = (message, data, show) => log(message, data, client.isRunning() ? show : false);
  const report = client.handleFailedRequest.bind(client);
  client.handleFailedRequest = (type, token, error, defaultValue, ...more) =>
    client.isRunning() ? report(type, token, error, defaultValue, ...more) : defaultValue;
  return client;
}
