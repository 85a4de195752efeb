import type { LeafValue } from "../../../config/settings/setting-leaves.js";
import { createRedactor, isSecretName, secretsOf } from "../../../config/secrets/redact.js";
import { mask } from "../../../base/text/redaction.js";

/** Shown in place of a key. */
export const hiddenValue = "(set)";

/** Masks the secret parts of a setting's value. */
export type MaskValue = (key: string, value: LeafValue) => LeafValue;

/** Keys, and the values of a server's variables and headers. */
const secretKeys = /^providers\..+\.apiKey$|^mcp_servers\.[^.]+\.(?:env|http_headers)\./;
const address = /(?:^|\.)(?:url|baseUrl|issuer|tokenUrl)$/;
const queryValue = /(?<=[?&][^=&#]*=)[^&#]+/g;
const assigned = /^(-{0,2})([^=]+)=(.+)$/s;

/** Masks secrets in values of any source. */
export function createValueMask(secrets: readonly string[]): MaskValue {
  const redact = createRedactor(secrets);
  return (key, value) => {
    if (secretKeys.test(key)) return hiddenValue;
    if (Array.isArray(value)) return (key.endsWith(".args") ? shownArguments(value) : value).map(redact);
    if (typeof value !== "string") return value;
    return redact(address.test(key) ? value.replaceAll(queryValue, mask) : value);
  };
}

export function valueText(value: LeafValue): string {
  const isEmptyTable = typeof value === "object" && !Array.isArray(value);
  return isEmptyTable ? "{}" : String(value);
}

/** For `--token x`, `--token=x` and `TOKEN=x`, shows only the name. */
function shownArguments(args: readonly string[]): string[] {
  return args.map((argument, index) => {
    const before = args[index - 1] ?? "";
    if (before.startsWith("-") && !before.includes("=") && isSecretFlag(before, argument)) return mask;
    const [, dashes = "", name = "", value = ""] = assigned.exec(argument) ?? [];
    return isSecretFlag(name, value) ? `${dashes}${name}=${mask}` : argument;
  });
}

function isSecretFlag(flag: string, value: string): boolean {
  const name = flag.replace(/^-+/, "").replaceAll("-", "_");
  return isSecretName(name) || (name !== "" && value !== "" && secretsOf({ [name]: value }).includes(value));
}
