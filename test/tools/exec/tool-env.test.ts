import { expect, test } from "vitest";
import { toolEnv } from "../../../src/tools/exec/tool-env.js";

test("toolEnv passes on harmless variables and none that can hold a secret", () => {
  const harmless = { PATH: "/bin", HOME: "/home/me", LANG: "C.UTF-8", LC_ALL: "C", TZ: "UTC", JAVA_HOME: "/opt/java" };
  const secrets = {
    OPENAI_API_KEY: "sk-1",
    GITHUB_TOKEN: "ghp_1",
    AWS_SECRET_ACCESS_KEY: "1",
    HTTPS_PROXY: "http://me:password@proxy",
    SSH_AUTH_SOCK: "/run/agent",
    XDG_RUNTIME_DIR: "/run/user/1",
    NODE_OPTIONS: "--require x",
    LD_PRELOAD: "x.so",
    CODY_HOME: "/home/me/.cody",
    LC_SECRET_TOKEN: "1",
  };
  expect(toolEnv({ ...harmless, ...secrets })).toEqual(harmless);
});

test("toolEnv passes on every locale category", () => {
  const categories = ["ADDRESS", "ALL", "COLLATE", "CTYPE", "IDENTIFICATION", "MEASUREMENT", "MESSAGES", "MONETARY"];
  const others = ["NAME", "NUMERIC", "PAPER", "TELEPHONE", "TIME"];
  const env = Object.fromEntries([...categories, ...others].map((name) => [`LC_${name}`, "C"]));
  expect(toolEnv(env)).toEqual({ PATH: "/usr/local/bin:/usr/bin:/bin", ...env });
});

test("toolEnv passes on the variables the user names, if they are set", () => {
  const env = { PATH: "/bin", HTTPS_PROXY: "http://proxy", GITHUB_TOKEN: "ghp_1", EMPTY: undefined };
  expect(toolEnv(env, ["HTTPS_PROXY", "EMPTY", "ABSENT"])).toEqual({ PATH: "/bin", HTTPS_PROXY: "http://proxy" });
});

test("toolEnv always has a PATH", () => {
  expect(toolEnv({})).toEqual({ PATH: "/usr/local/bin:/usr/bin:/bin" });
});
