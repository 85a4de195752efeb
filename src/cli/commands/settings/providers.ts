import { keyVariable, hasKey, providerNames, vendorOf } from "../../../config/providers/vendors.js";
import { type CommandContext, printResult } from "../../context.js";
import { columnLines } from "../../format.js";
import { loadSettings } from "../../load-settings.js";

const header = ["PROVIDER", "APIS", "MODEL", "KEY"];

interface ProviderFacts {
  readonly provider: string;
  readonly apis: readonly string[];
  /** The model used if only the provider is named; null if there is none. */
  readonly model: string | null;
  readonly key: "not needed" | "set" | "missing";
  /** The environment variable that may hold the key. */
  readonly variable: string;
}

/** Lists the built-in and the configured providers. */
export async function providersCommand(context: CommandContext): Promise<number> {
  const { values } = await loadSettings(context);
  const sources = { env: context.terminal.env, providers: values.providers, auth: values.auth };
  const providers = providerNames(values.providers).map((provider): ProviderFacts => {
    const vendor = vendorOf(provider);
    const isKeyless = provider === "offline" || (vendor !== undefined && vendor.key === undefined);
    const key = hasKey(provider, sources) ? "set" : isKeyless ? "not needed" : "missing";
    const apis = vendor?.apis ?? [];
    return { provider, apis, model: vendor?.model ?? null, key, variable: keyVariable(provider) };
  });
  await printResult(context, { text: tableText(providers), json: providers });
  return 0;
}

function tableText(providers: readonly ProviderFacts[]): string {
  const rows = providers.map(({ provider, apis, model, key, variable }) => [
    provider,
    apis.join(", ") || "-",
    model ?? "-",
    key === "missing" ? `missing: ${variable}` : key,
  ]);
  return [...columnLines([header, ...rows]), "", "To choose one: cody provider set <provider> --model <model>"].join(
    "\n",
  );
}
