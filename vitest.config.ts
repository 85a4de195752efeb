import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/system/**"],
    globalSetup: "test/support/build.ts",
    // Most tests wait for processes, threads and disks rather than compute.
    maxWorkers: 4,
    isolate: false,
    // Node 20 reads these at every start, and the tests start hundreds of processes.
    env: { NODE_EXTRA_CA_CERTS: "" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
