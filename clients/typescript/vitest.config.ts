import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Each file starts processes of its own; two cores are all there may be.
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
