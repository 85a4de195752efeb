import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { wordsIn } from "../../../src/rollouts/search/match-words.js";
import { factsInFiles, searchFiles } from "../../../src/rollouts/search/scan.js";
import { withIndex } from "../../../src/rollouts/search/with-index.js";
import { assistant, call, context, Home, output, tokens, user } from "./rollout-library.js";

const letters = fc.constantFrom(
  "a",
  "B",
  "b",
  "é",
  "É",
  "İ",
  "ß",
  "Σ",
  "ς",
  "😀",
  "\ud800",
  '"',
  "*",
  "'",
  "\0",
  "-",
  "(",
  "\n",
  " ",
);
const text = fc.array(letters, { maxLength: 12 }).map((all) => all.join(""));
const line = fc.oneof(
  text.map(user),
  text.map(assistant),
  text.map((args) => call("shell", args)),
  text.map((out) => output(out)),
  fc.tuple(fc.nat(100), fc.nat(100)).map(([input, out]) => tokens(input, out)),
  fc.constantFrom("gpt-4o", "gpt-5").map(context),
  fc.constant("no json\n"),
);
const conversation = fc.array(line, { maxLength: 8 });

test("the index returns the same results as a scan of the files, however they grow", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(conversation, conversation), { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
      async (conversations, queries) => {
        const home = await Home.open();
        for (const [index, [lines]] of conversations.entries()) home.save(`conv_${index}`, ...lines);
        const first = home.library();
        const outcome = await withIndex({ path: home.index }, (index) => {
          index.update(first);
          for (const [number, [, more]] of conversations.entries()) home.append(`conv_${number}`, ...more);
          const library = home.library();
          index.update(library);
          for (const query of queries) {
            const words = wordsIn(query);
            expect(index.search(library.conversations, words, 10)).toEqual(
              searchFiles(library.conversations, words, 10),
            );
          }
          expect([...index.facts(library.conversations).values()]).toEqual([
            ...factsInFiles(library.conversations).values(),
          ]);
        });
        expect(outcome).toMatchObject({ status: "used" });
      },
    ),
    { numRuns: 60 },
  );
});

test("the index returns the same results for Codex rollouts and older formats", async () => {
  const home = await Home.open();
  for (const name of ["codex", "forms"]) {
    const folder = fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (file.endsWith(".jsonl")) cpSync(join(folder, file), join(home.conversations, file.replaceAll("/", "_")));
    }
  }
  const library = home.library();
  expect(library.conversations.length).toBeGreaterThan(5);
  const outcome = await withIndex({ path: home.index }, (index) => {
    index.update(library);
    for (const words of [["the"], ["a"], ["file", "read"], ["shell"], ["you", "error"], ["nothing-has-this"]]) {
      expect(index.search(library.conversations, words, 100)).toEqual(searchFiles(library.conversations, words, 100));
    }
    expect(index.facts(library.conversations)).toEqual(factsInFiles(library.conversations));
    return index.search(library.conversations, ["the"], 100).length;
  });
  expect(outcome).toEqual({ status: "used", value: expect.any(Number) });
});
