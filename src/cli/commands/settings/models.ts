import type { NamedModel } from "../../../config/models/model-table.js";
import { knownModels } from "../../../config/models/models.js";
import { columnLines, tokenText } from "../../format.js";
import { type CommandContext, printResult } from "../../context.js";
import { loadSettings } from "../../load-settings.js";

const unknown = "-";
const header = ["MODEL", "PROVIDER", "WINDOW", "ANSWER", "IN", "OUT", "ALSO CALLED"];

/** Lists the models known by name: cody's own and the configured ones. */
export async function modelsCommand(context: CommandContext): Promise<number> {
  const { values } = await loadSettings(context);
  const models = knownModels(values.models).toSorted((a, b) => a.provider.localeCompare(b.provider));
  await printResult(context, { text: tableText(models), json: models });
  return 0;
}

function tableText(models: readonly NamedModel[]): string {
  return [
    ...columnLines([header, ...models.map(rowOf)]),
    "",
    "Prices are in US dollars per million tokens; - means unknown. To add models: `models` in the configuration.",
  ].join("\n");
}

function rowOf({ id, provider, contextWindow, maxOutput, price, aliases }: NamedModel): string[] {
  const sizes = [contextWindow, maxOutput].map((size) => (size === undefined ? unknown : tokenText(size)));
  const prices = [price?.input, price?.output].map((value) => (value === undefined ? unknown : String(value)));
  return [id, provider, ...sizes, ...prices, aliases.join(", ")];
}
