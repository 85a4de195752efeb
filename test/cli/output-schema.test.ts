import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { says, scripted } from "../support/scripted-provider.js";
import { mockLlm, wireApis, wireEnv } from "../support/wire-apis.js";

const schema = {
  type: "object",
  properties: { answer: { type: "string" }, sure: { type: "boolean" } },
  required: ["answer", "sure"],
  additionalProperties: false,
};

function withPattern(pattern: string): object {
  return { ...schema, properties: { ...schema.properties, answer: { type: "string", pattern } } };
}

test.each(wireApis)(
  "over $api the answer is JSON that matches the schema in a file",
  async ({ api, provider, model }) => {
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
  },
);

test.each([
  ["does not exist", undefined, "cannot read the file: it does not exist"],
  ["is not JSON", "{", "invalid JSON"],
  ["is not a schema", "[]", "expected a JSON Schema object"],
  ["allows additional properties", '{"type":"object","properties":{}}', "additionalProperties: expected false"],
  ["has an invalid pattern", JSON.stringify(withPattern("(")), "invalid schema: Invalid regular"],
])("a file that %s is a usage error, and no conversation starts", async (_name, text, reason) => {
  const cli = await Cli.open();
  const file = join(cli.project, "shape.json");
  if (text !== undefined) await writeFile(file, text);
  const { code, stdout, stderr } = await cli.run(["chat", "hello", "--output-schema", "shape.json"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`--output-schema ${file}: ${reason}`);
  expect(await cli.ids()).toEqual([]);
});

test.each([
  ["Forty-two.", ["it is not JSON"]],
  ['{"answer":"42","sure":true} ', []],
  ['{"answer":42}', ['must have a property "sure"', "answer: must be string"]],
  ['{"answer":"42","sure":"yes","\\u001b[2J":1}', ['must not have a property "\\u001b[2J"', "sure: must be boolean"]],
])("the answer %s is printed, and schema violations are reported with their path", async (answer, problems) => {
  const terminal = await FakeTerminal.open(scripted([says(answer)]));
  await writeFile(join(terminal.cwd, "shape.json"), JSON.stringify(schema));
  const code = await terminal.run("chat", "what is 6 * 7?", "--output-schema", "shape.json");
  expect({ code, screen: terminal.screen }).toEqual({ code: problems.length === 0 ? 0 : 1, screen: `${answer}\n` });
  const report = ["✗ The answer does not match --output-schema shape.json:", ...problems].join("\n  ");
  expect(terminal.errors).toContain(problems.length === 0 ? "" : `${report}\n`);
  expect(terminal.errors.includes("✗")).toBe(problems.length > 0);
});

test("a failed turn is reported as failed and its answer is not validated", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  await writeFile(join(terminal.cwd, "shape.json"), JSON.stringify(schema));
  expect(await terminal.run("chat", "hello", "--output-schema", "shape.json")).toBe(1);
  expect(terminal.errors).not.toContain("does not match");
});
