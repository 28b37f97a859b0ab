#!/usr/bin/env node
// The program `stream-sidecar-gateway`.

import { main } from "./command.js";

process.exitCode = await main(process.argv.slice(2));
