import * as fc from "fast-check";
import { expect, test } from "vitest";
import { configEdits } from "../../src/config/files/config-edits.js";
import { configFormats } from "../../src/config/files/config-format.js";

type Name = "config.yaml" | "config.jsonc";

async function editedText(name: Name, text: string, to: unknown): Promise<string> {
  const format = configFormats[name];
  const result = await format.ways[0]?.(text, configEdits((await format.parse(text, name)) ?? {}, to), to);
  expect(result).toBeDefined();
  expect((await format.parse(result ?? "", name)) ?? {}).toEqual(to);
  return result ?? "";
}

test.each([
  [
    "config.jsonc",
    '{\n  "model": "a" // mine\n}\n',
    { model: "a", api: "chat" },
    '{\n  "model": "a", // mine\n  "api": "chat"\n}\n',
  ],
  [
    "config.jsonc",
    '{\n  "model": "a", // mine\n}\n',
    { model: "a", api: "chat" },
    '{\n  "model": "a", // mine\n  "api": "chat",\n}\n',
  ],
  [
    "config.jsonc",
    '{\n  // top\n  "model": "a", // mine\n  "api": "chat" // how\n  // end\n}\n',
    { model: "a" },
    '{\n  // top\n  "model": "a" // mine\n  // end\n}\n',
  ],
  ["config.jsonc", '{"model": "a", "api": "chat"}', { api: "chat" }, '{ "api": "chat"}'],
  ["config.jsonc", '{"model": "a"}', { model: "b", api: "chat" }, '{"model": "b", "api": "chat"}'],
  ["config.jsonc", "// nothing yet\n", { model: "a" }, '// nothing yet\n{\n  "model": "a"\n}\n'],
  ["config.jsonc", "{} // nothing\n", { model: "a" }, '{\n  "model": "a"\n} // nothing\n'],
  ["config.jsonc", '{\n  "a": {\n    // in\n    "b": 1\n  },\n  "c": 2\n}\n', { c: 2 }, '{\n    // in\n  "c": 2\n}\n'],
  [
    "config.jsonc",
    '{\n  "a": {\n    "b": 1\n  }\n}\n',
    { a: { b: 1, c: { d: 2 } } },
    '{\n  "a": {\n    "b": 1,\n    "c": {\n      "d": 2\n    }\n  }\n}\n',
  ],
  [
    "config.jsonc",
    '\uFEFF{\r\n  "a": 1 // one\r\n}\r\n',
    { a: 1, b: 2 },
    '\uFEFF{\r\n  "a": 1, // one\r\n  "b": 2\r\n}\r\n',
  ],
  ["config.yaml", "# top\n\nmodel: a # mine\napi: chat\n", { api: "chat" }, "# top\n\napi: chat\n"],
  ["config.yaml", "# top\nmodel: a\n# end\n", {}, "# top\n# end\n"],
  ["config.yaml", "model: a # mine\n# end\n", { model: "b", api: "chat" }, "model: b # mine\napi: chat\n# end\n"],
  [
    "config.yaml",
    "history:\n  # how many\n  maxSize: 3\n\n# tools\ntoolEnv: [A]\n",
    { toolEnv: ["A"] },
    "  # how many\n\n# tools\ntoolEnv: [A]\n",
  ],
  [
    "config.yaml",
    "history: # past\n    maxSize: 3",
    { history: { maxSize: 3, b: { c: 1 } } },
    "history: # past\n    maxSize: 3\n    b:\n      c: 1\n",
  ],
  [
    "config.yaml",
    "toolEnv: # names\n  - A # a\n  # more\n  - B\nmodel: x\n",
    { toolEnv: ["C"], model: "x" },
    "toolEnv: [ C ] # names\n  # more\nmodel: x\n",
  ],
  [
    "config.yaml",
    "systemPrompt: |\n  # no comment\n  hi\nmodel: x\n",
    { systemPrompt: "one\ntwo", model: "x" },
    'systemPrompt: "one\\ntwo"\nmodel: x\n',
  ],
  ["config.yaml", "a: 1 # one\r\nb: 2\r\n", { a: 1 }, "a: 1 # one\r\n"],
  ["config.jsonc", "// nothing yet", { a: 1 }, '// nothing yet\n{\n  "a": 1\n}\n'],
  ["config.yaml", "# nothing yet", { a: 1 }, "# nothing yet\na: 1\n"],
] as const)("%s: %j set to %j becomes %j", async (name, text, to, expected) => {
  expect(await editedText(name, text, to)).toBe(expected);
});

interface Setting {
  readonly value: string | number | boolean | readonly string[] | Settings;
  /** Comments on the lines above the setting, and the one after it. */
  readonly above: readonly string[];
  readonly behind: string | undefined;
}
interface Settings {
  readonly [name: string]: Setting;
}

const comment = fc.stringMatching(/^[a-z"':{}[\],# ]{0,12}$/);
const leaf = fc.oneof(
  fc.stringMatching(/^[ -~]{0,12}$/),
  fc.nat(),
  fc.boolean(),
  fc.array(fc.stringMatching(/^[a-z#]{1,5}$/)),
);

const settings: fc.Arbitrary<Settings> = fc.letrec<{ settings: Settings }>((tie) => ({
  settings: fc.dictionary(
    fc.stringMatching(/^[a-e]{1,2}$/),
    fc.record({
      value: fc.oneof({ depthSize: "small" }, leaf, tie("settings")),
      above: fc.array(comment, { maxLength: 2 }),
      behind: fc.option(comment, { nil: undefined }),
    }),
    { maxKeys: 4, noNullPrototype: true },
  ),
})).settings;

function isSettings(value: Setting["value"]): value is Settings {
  return typeof value === "object" && !Array.isArray(value);
}

/** Drops empty tables, as saving a configuration does. */
function plain(from: Settings): Record<string, unknown> {
  const entries = Object.entries(from).map(
    ([key, { value }]) => [key, isSettings(value) ? plain(value) : value] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => JSON.stringify(value) !== "{}"));
}

function yamlLines(from: Settings, indentation = ""): string[] {
  return Object.entries(from).flatMap(([key, { value, above, behind }]) => {
    const note = behind === undefined ? "" : ` # ${behind}`;
    const head = above.map((text) => `${indentation}# ${text}`);
    if (!isSettings(value)) return [...head, `${indentation}${key}: ${JSON.stringify(value)}${note}`];
    const inner = yamlLines(value, `${indentation}  `);
    return Object.keys(plain(value)).length === 0 ? head : [...head, `${indentation}${key}:${note}`, ...inner];
  });
}

function jsoncLines(from: Settings, indentation = "  "): string[] {
  const shown = Object.entries(from).filter(
    ([, { value }]) => !isSettings(value) || JSON.stringify(plain(value)) !== "{}",
  );
  return shown.flatMap(([key, { value, above, behind }], index) => {
    const comma = index === shown.length - 1 && key.length === 1 ? "" : ",";
    const note = behind === undefined ? "" : ` // ${behind}`;
    const head = above.map((text) => `${indentation}// ${text}`);
    const begin = `${indentation}"${key}": `;
    if (!isSettings(value)) return [...head, `${begin}${JSON.stringify(value)}${comma}${note}`];
    return [...head, `${begin}{${note}`, ...jsoncLines(value, `${indentation}  `), `${indentation}}${comma}`];
  });
}

function commentLines(text: string): string[] {
  return text.split("\n").filter((line) => /^\s*(?:#|\/\/)/.test(line));
}

test.each([
  ["config.yaml", (from: Settings) => `# first\n${yamlLines(from).join("\n")}\n# last\n`],
  ["config.jsonc", (from: Settings) => `// first\n{\n${jsoncLines(from).join("\n")}\n  // last\n}\n`],
] as const)("setting and removing values in %s keeps every comment line in place", async (name, write) => {
  await fc.assert(
    fc.asyncProperty(settings, settings, async (from, other) => {
      const text = write(from);
      const to = plain(other);
      const result = await editedText(name, text, to);
      expect(commentLines(result)).toEqual(commentLines(text));
      // Unchanged settings keep their text and their trailing comment.
      const before = plain(from);
      for (const line of text.split("\n")) {
        const key = /^ {0,2}"?([a-e]+)"?:/.exec(line)?.[1];
        const isTop = name === "config.yaml" ? !line.startsWith(" ") : !line.startsWith("   ");
        if (key === undefined || !isTop || JSON.stringify(before[key]) !== JSON.stringify(to[key])) continue;
        expect(result.replaceAll(",", "")).toContain(line.replaceAll(",", ""));
      }
    }),
    { numRuns: 300 },
  );
});

test("a nested table that ends with a comment is replaced without its neighbour", async () => {
  const text = "d:\n  a:\n    a:\n      a: false\n      # note\n";
  const edited = await editedText("config.yaml", text, { d: { b: { a: "" } } });
  expect(edited).toBe('d:\n      # note\n  b:\n    a: ""\n');
});
