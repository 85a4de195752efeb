import { describe, expect, test } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import { choices, ctrlC, opened, prompt, question } from "../support/cli-effects.js";
import { mockLlm, type SpokenApi, toolOutputs, wireApis, wireEnv } from "../support/wire-apis.js";

/** An interactive prompt with a model behind a wire API. */
async function openPrompt({ api, provider, model }: SpokenApi, script: readonly MockReply[]) {
  const mock = await mockLlm(script);
  const answering = ["--provider", provider, "--api", api, "--model", model];
  return { mock, ...(await opened([], { env: wireEnv(mock), answering })) };
}

const effect = (id: string, what: string) => ({ id, name: "effect", arguments: { what } });

describe.each(wireApis)("at the prompt over $api", (spoken) => {
  test("two calls of one answer are asked about one by one, and the approved one runs", async () => {
    const script = [{ calls: [effect("call_1", "this"), effect("call_2", "that")] }, { text: "One of them ran." }];
    const { mock, terminal, runs } = await openPrompt(spoken, script);
    terminal.type("go\r");
    await terminal.shows(`  effect this\n\n${choices}`);
    await terminal.shows(question);
    terminal.type("y\r");
    await terminal.shows(`  effect that\n\n${choices}`);
    await terminal.shows(question);
    terminal.type("n\r");
    await terminal.shows("One of them ran.\n");
    expect(runs).toEqual(["this"]);
    expect(
      Object.values(toolOutputs(mock.requests[1] ?? { body: {} })).map((output) => JSON.stringify(output)),
    ).toEqual([expect.stringContaining("did this"), expect.stringContaining("refused by the user")]);
  });

  test("Ctrl-C during a command ends the turn, and the next one is answered", async () => {
    const command = ["sh", "-c", "echo begun; exec sleep 600"];
    const script = [{ calls: [{ id: "call_1", name: "shell", arguments: { command } }] }, { text: "Fine." }];
    const { mock, terminal } = await openPrompt(spoken, script);
    terminal.type("go\r");
    await terminal.shows(question);
    terminal.type("y\r");
    await terminal.shows("$ sh -c 'echo begun; exec sleep 600'");
    terminal.type(ctrlC);
    await terminal.shows(prompt);
    terminal.type("go on\r");
    await terminal.shows("Fine.\n");
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 200]);
    expect(Object.keys(toolOutputs(mock.requests[1] ?? { body: {} }))).toEqual(["call_1"]);
  });

  test("reasoning is not part of the answer, and the next turn is accepted", async () => {
    const script = [{ reasoning: "A riddle.", text: "An egg." }, { text: "Still an egg." }];
    const { mock, terminal } = await openPrompt(spoken, script);
    terminal.type("what is it?\r");
    await terminal.shows("An egg.\n");
    terminal.type("sure?\r");
    await terminal.shows("Still an egg.\n");
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 200]);
  });
});
