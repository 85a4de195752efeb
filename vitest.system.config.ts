import { defineConfig } from "vitest/config";

/** What needs more than Node and npm: tmux, git, strace, other programs. Run by hand. */
export default defineConfig({
  test: {
    include: ["test/system/**/*.test.ts"],
    globalSetup: "test/support/build.ts",
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
