import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { mockLlm, wireApis, wireEnv } from "../support/wire-apis.js";

const schema = {
  type: "object",
  properties: { answer: { type: "string" }, sure: { type: "boolean" } },
  required: ["answer", "sure"],
  additionalProperties: false,
};

test.each(wireApis)("over $api the answer is JSON of the shape in a file", async ({ api, provider, model }) => {
  const mock = await mockLlm();
  const cli = await Cli.open();
  await writeFile(join(cli.project, "shape.json"), JSON.stringify(schema));
  const flags = ["--provider", provider, "--api", api, "--model", model, "--output-schema", "shape.json"];
  const { code, stdout } = await cli.run(["chat", "what is 6 * 7?", ...flags], { env: wireEnv(mock) });
  expect({ code, said: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    said: { answer: expect.stringContaining("42"), sure: false },
  });
  expect(mock.requests.map(({ status }) => status)).toEqual([200]);
});

test.each([
  ["is not there", undefined, "cannot be read (ENOENT)"],
  ["is no JSON", "{", "invalid JSON"],
  ["is no schema", "[]", "expected a JSON Schema, which is an object"],
  ["is open", '{"type":"object","properties":{}}', "additionalProperties: expected false"],
])("a file that %s is a mistake on the command line, and nothing is begun", async (_name, text, said) => {
  const cli = await Cli.open();
  const file = join(cli.project, "shape.json");
  if (text !== undefined) await writeFile(file, text);
  const { code, stdout, stderr } = await cli.run(["chat", "hello", "--output-schema", "shape.json"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`--output-schema ${file}: ${said}`);
  expect(await cli.ids()).toEqual([]);
});
