#!/usr/bin/env node
// The program `stream-sidecar-gateway`.

import { setFlagsFromString } from "node:v8";
import { main } from "./command.js";

// A log that nobody can write or read any more (a full disk, a closed pipe) ends no stream.
process.stderr.on("error", () => {});

// V8 would let the space of new objects grow from 1 to 16 MiB, two or three times. What passes here
// lives briefly, so that only takes memory (with it, a long stream takes 20 MB more).
setFlagsFromString("--semi-space-growth-factor=1");

process.exitCode = await main(process.argv.slice(2));
