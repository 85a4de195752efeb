import type { PtyProgram } from "../../test/terminal/support/pty-program.js";
import type { Replies, Stage } from "./stage.js";

export interface Situation {
  /** The name of its picture. */
  readonly name: string;
  readonly replies: Replies;
  /** Resolves with the program whose screen is the picture. */
  play(stage: Stage): Promise<PtyProgram>;
}

const enter = "\r";
const prompt = "›";

export const situations: readonly Situation[] = [
  {
    name: "welcome",
    replies: [{ text: "Hello." }],
    play: async (stage) => {
      const cody = await started(stage, { columns: 100, rows: 18 });
      cody.type("Explain what @src/tide.js computes.\nThen add a test for the day after a spring tide.");
      await cody.quiet();
      return cody;
    },
  },
  {
    name: "markdown",
    replies: [
      {
        reasoning: "The code adds half a lunar day. I should say why, and show the numbers.",
        text: `## Why the tide comes later every day

The moon passes overhead every **24 hours and 50 minutes**, and a harbour has two high waters in that time. So the next one is half a *lunar* day away, which is what \`nextHighWater\` in [src/tide.js](https://example.com/src/tide.js) computes:

\`\`\`js
const lunarDay = 24 * 60 + 50; // minutes

export function nextHighWater(now, lastHighWater) {
  return lunarDay / 2 - (now - lastHighWater);
}
\`\`\`

Two things are missing:

1. it is negative when more than one tide has passed
2. no harbour has its own **offset**:
   - the table below has three of them

| Harbour          | Offset | Mean height |
| ---------------- | -----: | ----------: |
| Brest            |   4:12 |       6.4 m |
| Hoek van Holland |  11:58 |       1.7 m |
| Emden            |   0:31 |       3.1 m |

> Heights are above the lowest astronomical tide.
`,
      },
    ],
    play: async (stage) => {
      const cody = await started(stage, { columns: 100, rows: 46 });
      cody.type(`Why is the next high water 745 minutes away?${enter}`);
      await cody.shows("lowest astronomical tide");
      await cody.quiet();
      return cody;
    },
  },
  {
    name: "approval",
    replies: [
      {
        text: "I will run the tests first.",
        calls: [{ name: "shell", arguments: { command: ["npm", "test"] } }],
      },
      {
        text: "They pass. The formatter is not installed, so I need the network once.",
        calls: [
          {
            name: "shell",
            arguments: {
              command: ["npm", "install", "--save-dev", "prettier@3"],
              with_escalated_permissions: true,
              justification: "The sandbox has no network, and prettier has to be downloaded.",
            },
          },
        ],
      },
      { text: "Done." },
    ],
    play: async (stage) => {
      const cody = await started(stage, { columns: 100, rows: 30 });
      cody.type(`Format the code with prettier${enter}`);
      await cody.shows("↑↓ enter");
      await cody.quiet();
      return cody;
    },
  },
  {
    name: "changes",
    replies: [
      { calls: [{ name: "apply_patch", input: patch() }] },
      { calls: [{ name: "shell", arguments: { command: ["npm", "test"] } }] },
      { text: "`nextHighWater` now counts the tides that have passed, and there is a test for it." },
    ],
    play: async (stage) => {
      const cody = await started(stage, { columns: 100, rows: 60 });
      cody.type(`It is negative after a whole day. Fix that${enter}`);
      await cody.shows("Changes This Turn");
      await cody.quiet();
      return cody;
    },
  },
  {
    name: "picker",
    replies: [
      { text: "The harbours of `src/harbour.js` have no offsets yet. I have added them." },
      { text: "Brest has the highest tides of the three: 6.4 m on average." },
      { text: "The table has 12 columns now, one per month." },
    ],
    play: async (stage) => {
      const questions = {
        "harbour offsets": "Add an offset to every harbour",
        "tide heights": "Which harbour has the highest tides?",
        "monthly table": "Print a table with one column per month",
      };
      for (const [name, question] of Object.entries(questions)) await stage.run("chat", "--name", name, question);
      const cody = await started(stage, { columns: 100, rows: 30 });
      cody.type(`/resume${enter}`);
      await cody.shows("12 columns now");
      await cody.quiet();
      return cody;
    },
  },
  {
    name: "conversations",
    replies: [
      { calls: [{ name: "shell", arguments: { command: ["sh", "-c", "npm test && sleep 60"] } }] },
      { calls: [{ name: "shell", arguments: { command: ["git", "push"], with_escalated_permissions: true } }] },
      { text: "Brest, Emden and Hoek van Holland.", usage: { input_tokens: 61_000, output_tokens: 40 } },
      { text: "Done." },
    ],
    play: async (stage) => {
      const cody = await started(stage, { columns: 100, rows: 30 });
      cody.type(`Run the tests until they fail${enter}`);
      await cody.shows("sleep 60");
      cody.type(`/new${enter}`);
      await cody.shows("2 new conversation");
      cody.type(`Push the branch${enter}`);
      await cody.shows("yes, once");
      cody.type(`/new${enter}`);
      await cody.shows("3 new conversation");
      cody.type(`Which harbours does it know?${enter}`);
      await cody.shows("Brest, Emden");
      await cody.quiet(1_000);
      cody.type(`/ps${enter}`);
      await cody.quiet();
      return cody;
    },
  },
];

async function started(stage: Stage, size: { readonly columns: number; readonly rows: number }): Promise<PtyProgram> {
  const cody = stage.cody(size);
  await cody.shows(prompt);
  await cody.quiet();
  return cody;
}

function patch(): string {
  return `*** Begin Patch
*** Update File: src/tide.js
@@ export function nextHighWater(now, lastHighWater) {
   const passed = now - lastHighWater;
-  return lunarDay / 2 - passed;
+  const tide = lunarDay / 2;
+  return tide - (passed % tide);
 }
*** Update File: test/tide.test.js
@@ test("the next high water is half a lunar day after the last", () => {
   assert.equal(nextHighWater(0, 0), 745);
 });
+
+test("it is never negative", () => {
+  assert.equal(nextHighWater(2 * 745 + 5, 0), 740);
+});
*** End Patch
`;
}
