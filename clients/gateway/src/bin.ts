#!/usr/bin/env node
// The program `stream-sidecar-gateway`.

import { main } from "./command.js";

// A log that nobody can write or read any more (a full disk, a closed pipe) ends no stream.
process.stderr.on("error", () => {});
process.exitCode = await main(process.argv.slice(2));
