import { expect, test } from "vitest";
import { schemas } from "../../src/messages/settings/setting-values.js";
import { settingRows } from "../../src/messages/settings/settings-table.js";
import { configPage } from "./config-page.js";

// After a change of the settings: npm run docs
test("docs/config.md matches the settings table", async () => {
  const page = await configPage();
  expect(settingRows.filter(({ key }) => !page.includes(`| \`${key}\` `))).toEqual([]);
  expect(page).not.toMatch(/<!-- (?:user )?settings/);
  await expect(page).toMatchFileSnapshot("../../docs/config.md");
});

test("every default is a valid value of its setting", () => {
  const refused = settingRows.filter(
    (row) => row.default !== undefined && !row.schema(schemas).safeParse(row.default).success,
  );
  expect(refused.map(({ key }) => key)).toEqual([]);
});
