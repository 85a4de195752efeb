import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/system/**"],
    globalSetup: "test/support/build.ts",
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
