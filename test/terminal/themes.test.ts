import { describe, expect, it } from "vitest";
import { themeFor, type ThemeOptions } from "../../src/cli/terminal/view/themes.js";
import type { Theme } from "../../src/cli/terminal/view/view.js";

function theme(env: ThemeOptions["env"], rest: Partial<ThemeOptions> = {}): Theme {
  return themeFor({ env, background: "dark", ...rest });
}

const hasLinks = (env: ThemeOptions["env"]): boolean => theme(env).link("x", "https://example.com") !== "x";

describe("themeFor", () => {
  it.each([
    ["true colour", { TERM: "xterm-256color", COLORTERM: "truecolor" }, "\u001b[38;2;255;138;138mx\u001b[39m"],
    ["true colour without COLORTERM", { TERM: "xterm-kitty" }, "\u001b[38;2;255;138;138mx\u001b[39m"],
    ["256 colours", { TERM: "screen-256color" }, "\u001b[38;5;210mx\u001b[39m"],
    ["16 colours", { TERM: "xterm" }, "\u001b[91mx\u001b[39m"],
    ["16 colours without TERM", {}, "\u001b[91mx\u001b[39m"],
    ["no colours", { TERM: "xterm", COLORTERM: "truecolor", NO_COLOR: "1" }, "\u001b[1mx\u001b[22m"],
    ["no styles", { TERM: "dumb", COLORTERM: "truecolor" }, "x"],
  ])("has %s", (_what, env, error) => {
    expect(theme(env).error("x")).toBe(error);
  });

  it("ignores an empty NO_COLOR, as its definition says", () => {
    expect(theme({ TERM: "xterm", NO_COLOR: "" }).name).toBe("dark");
  });

  it("follows the background unless the user has chosen", () => {
    const env = { TERM: "xterm" };
    expect(theme(env, { background: "light" }).name).toBe("light");
    expect(theme(env, { background: "light", choice: "auto" }).name).toBe("light");
    expect(theme(env, { background: "light", choice: "dark" }).name).toBe("dark");
    expect(theme(env, { choice: "none" }).name).toBe("none");
    expect(theme({ TERM: "dumb" }, { choice: "none" }).bold("x")).toBe("x");
  });

  it("continues an outer style after an inner one of the same kind", () => {
    const { bold, accent, error } = theme({ TERM: "xterm" });
    expect(bold(`a${bold("b")}c`)).toBe("\u001b[1ma\u001b[1mb\u001b[22m\u001b[1mc\u001b[22m");
    expect(accent(`a${error("b")}c`)).toBe("\u001b[94ma\u001b[91mb\u001b[39m\u001b[94mc\u001b[39m");
  });

  it.each([
    [{ TERM: "xterm-kitty" }, true],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, true],
    [{ TERM: "xterm-256color", VTE_VERSION: "7002" }, true],
    [{ TERM: "xterm-256color", VTE_VERSION: "4000" }, false],
    [{ TERM: "xterm-256color" }, false],
    [{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.4" }, true],
    [{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.3a" }, false],
    // tmux passes the variables of the terminal it was started in.
    [{ TERM: "screen-256color", VTE_VERSION: "7002" }, false],
    [{ TERM: "dumb", TERM_PROGRAM: "vscode" }, false],
  ])("links where the terminal knows OSC 8: %j", (env, expected) => {
    expect(hasLinks(env)).toBe(expected);
  });

  it("links only to addresses that are safe to send to a terminal", () => {
    const { link } = theme({ TERM: "xterm-kitty" });
    expect(link("x", "https://example.com/a?b#c")).toBe(
      "\u001b]8;;https://example.com/a?b#c\u001b\\x\u001b]8;;\u001b\\",
    );
    for (const url of [
      "javascript:alert(1)",
      "https://a b",
      "https://a\u0007",
      "https://ä",
      "",
      `https://${"x".repeat(3_000)}`,
    ]) {
      expect(link("x", url)).toBe("x");
    }
  });
});
