import { defineConfig } from "vitest/config";

/** What needs more than Node and npm: tmux, git, zsh, fish, man, npm's registry, cc, prlimit, chromium, root for mounts, a Codex (`CODY_TEST_CODEX`). Run by hand. */
export default defineConfig({
  test: {
    include: ["test/system/**/*.test.ts"],
    globalSetup: "test/support/build.ts",
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
