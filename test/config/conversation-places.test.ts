import { expect, test } from "vitest";
import { resolveCodexHome, activeDirectory, conversationPlaces } from "../../src/config/paths.js";

const [home, codex] = ["/home/alice/.cody", "/home/alice/.codex"];
const [own, sessions] = [`${home}/conversations`, `${codex}/sessions`];

const homedir = (): string => "/home/alice";
const noHomedir = (): string => {
  throw new Error("no entry");
};

test("CODEX_HOME sets Codex's home, which is .codex in the user's home by default", () => {
  expect(resolveCodexHome({ env: { CODEX_HOME: "/data/codex" }, homedir })).toBe("/data/codex");
  expect(resolveCodexHome({ env: { CODEX_HOME: "" }, homedir })).toBe(codex);
  expect(resolveCodexHome({ env: {}, homedir })).toBe(codex);
  expect(resolveCodexHome({ env: {}, homedir: noHomedir })).toBeUndefined();
});

test("only layout codex puts new conversations where Codex looks", () => {
  const input = { home, codexHome: codex };
  const usual = {
    layout: "cody",
    directory: own,
    elsewhere: [sessions],
    alsoListed: [sessions],
    codexHome: codex,
    home,
  };
  expect(conversationPlaces({ ...input, persistence: undefined })).toEqual(usual);
  expect(conversationPlaces({ ...input, persistence: { layout: "project" } })).toEqual({ ...usual, layout: "project" });
  expect(conversationPlaces({ ...input, persistence: { layout: "codex" } })).toEqual({
    layout: "codex",
    directory: sessions,
    elsewhere: [own],
    alsoListed: [own],
    codexHome: codex,
    home,
  });
});

test("a custom directory is the only one, while a default directory also includes the other default", () => {
  const places = (directory: string) =>
    conversationPlaces({ home, codexHome: codex, persistence: { layout: "codex", directory } });
  expect(places("kept")).toEqual({
    layout: "codex",
    directory: `${home}/kept`,
    elsewhere: [],
    alsoListed: [],
    codexHome: codex,
    home,
  });
  expect(places(sessions).elsewhere).toEqual([own]);
  expect(activeDirectory(places("kept"))).toBe(`${home}/kept`);
  expect(activeDirectory(places(sessions))).toBe(own);
  expect(places("conversations")).toMatchObject({ directory: own, elsewhere: [sessions] });
});

test("a user without a home has no Codex home and cannot use layout codex", () => {
  const input = { home, codexHome: undefined };
  expect(conversationPlaces({ ...input, persistence: {} })).toMatchObject({ directory: own, elsewhere: [] });
  expect(() => conversationPlaces({ ...input, persistence: { layout: "codex" } })).toThrow("set CODEX_HOME");
});
