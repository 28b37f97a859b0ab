// The language server of this window: started, started anew when a setting changes, and
// ended with the window. Where there is no sidecar it says so once, with a way out.

import type * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { tell, Unavailable } from "./problems.js";

/** Makes a client that is not started yet. */
export type MakeClient = () => Promise<BaseLanguageClient>;

export class Server implements vscode.Disposable {
  #client: BaseLanguageClient | undefined;
  /** Starts and ends come one after the other. */
  #turn: Promise<void> = Promise.resolve();
  readonly #make: MakeClient;
  readonly #output: vscode.LogOutputChannel;

  constructor(make: MakeClient, output: vscode.LogOutputChannel) {
    this.#make = make;
    this.#output = output;
  }

  /** The client that runs; undefined: there is none, and the user has been told. */
  async client(): Promise<BaseLanguageClient | undefined> {
    await this.#turn;
    return this.#client;
  }

  /** Starts the server, or starts it anew. */
  restart(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await this.#end();
      try {
        this.#client = await this.#make();
        await this.#client.start();
      } catch (error) {
        await this.#end();
        this.#tell(error);
      }
    });
    return this.#turn;
  }

  async #end(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.dispose().catch((error: unknown) => this.#output.warn(String(error)));
  }

  #tell(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#output.error(message);
    for (const line of triedIn(error)) this.#output.error(`  tried ${line}`);
    const isTold = error instanceof Error && error.name === "NotFound";
    void tell(isTold ? error : new Unavailable(message));
  }

  dispose(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#end());
    return this.#turn;
  }
}

function triedIn(error: unknown): readonly string[] {
  return (error as { tried?: readonly string[] }).tried ?? [];
}
