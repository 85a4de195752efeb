import { expect, test } from "vitest";
import { gitUser } from "../../../src/base/git/git-user.js";

const homedir = () => "/home/me";
const noHome = () => {
  throw new Error("no home");
};

test("gitUser finds the configuration and ignore files where git does", () => {
  expect(gitUser({ env: {}, homedir })).toEqual({
    home: "/home/me",
    configs: ["/etc/gitconfig", "/home/me/.config/git/config", "/home/me/.gitconfig"],
    ignore: "/home/me/.config/git/ignore",
  });
  expect(gitUser({ env: { HOME: "/h", XDG_CONFIG_HOME: "/x", GIT_CONFIG_NOSYSTEM: "1" }, homedir })).toEqual({
    home: "/h",
    configs: ["/x/git/config", "/h/.gitconfig"],
    ignore: "/x/git/ignore",
  });
  const env = { GIT_CONFIG_GLOBAL: "/g", GIT_CONFIG_SYSTEM: "/s", XDG_CONFIG_HOME: "" };
  expect(gitUser({ env, homedir }).configs).toEqual(["/s", "/g"]);
});

test("without a home directory gitUser has only the system configuration", () => {
  expect(gitUser({ env: { GIT_CONFIG_GLOBAL: "" }, homedir: noHome })).toEqual({ configs: ["/etc/gitconfig"] });
});
