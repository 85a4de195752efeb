import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

test("models lists windows, prices and aliases, including configured models", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["models"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^claude-sonnet-4-20250514 +anthropic +200k +16k +3 +15 +claude-sonnet, sonnet/m);
  expect(stdout).toMatch(/^claude-sonnet-5-5 +anthropic +- +- +- +- +claude-sonnet-latest, sonnet-latest$/m);
  expect(stdout).toMatch(/^o3 +openai +200k +100k +10 +40$/m);
  await mkdir(cli.home, { recursive: true });
  const models = { "lab-1": { provider: "my-lab", contextWindow: 32_000, price: { input: 1, output: 2 } } };
  await writeFile(join(cli.home, "config.json"), JSON.stringify({ models }));
  const listed = JSON.parse((await cli.run(["models", "--json"])).stdout) as unknown[];
  expect(listed).toContainEqual({
    id: "lab-1",
    provider: "my-lab",
    contextWindow: 32_000,
    maxOutput: 16_384,
    price: { input: 1, output: 2 },
    abilities: [],
    aliases: [],
  });
  expect(listed).toContainEqual({
    id: "gpt-5.6-sol",
    provider: "openai",
    abilities: ["reasoning", "images"],
    aliases: ["sol"],
  });
  expect(listed).toContainEqual(
    expect.objectContaining({ id: "gpt-4o", price: { input: 2.5, output: 10, cachedInput: 1.25 } }),
  );
});

test("models reports errors in configured models", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { recursive: true });
  await writeFile(
    join(cli.home, "config.json"),
    JSON.stringify({ models: { x: { price: { input: -1, output: 2 } } } }),
  );
  const { code, stderr } = await cli.run(["models"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("models.x.price.input");
});
