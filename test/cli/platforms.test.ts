import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { Cli, commandOf } from "../support/cli.js";

const preload = new URL("preload/windows.mjs", import.meta.url).href;

test.each([["chat", "hello"], ["list"], ["--version"]])(
  "on native Windows, %s says what to do instead",
  async (...args) => {
    const cli = await Cli.open();
    const [node, ...command] = commandOf(args);
    const result = await new Promise((resolve) => {
      const options = { cwd: cli.project, env: cli.env };
      execFile(node, ["--import", preload, ...command], options, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
    const isVersion = args.includes("--version");
    expect(result).toEqual({
      code: isVersion ? 0 : 1,
      stdout: isVersion ? "0.1.0\n" : "",
      stderr: isVersion
        ? ""
        : "cody does not run on native Windows: install it inside WSL (https://aka.ms/wsl) and start it there.\n",
    });
    expect(await readdir(cli.project)).toEqual([]);
  },
);
