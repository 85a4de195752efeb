import { nearestName } from "../../base/text/nearest-name.js";
import { configKeys, settingGroups, tableKeys } from "./setting-keys.js";

/** The setting that was probably meant: a similar spelling, or the same name in another table. */
export function nearestSetting(text: string): string | undefined {
  const place = placeOf(text);
  const known: readonly string[] = [...configKeys, ...settingGroups, ...tableKeys];
  const near = nearest(
    text,
    known.filter((key) => placeOf(key) === place),
  );
  if (near !== undefined) return near;
  const [namesake, another] = known.filter((key) => nameOf(key) === nameOf(text) && placeOf(key) !== undefined);
  return another === undefined ? namesake : undefined;
}

function nearest(text: string, known: readonly string[]): string | undefined {
  const near = nearestName(nameOf(text), known.map(nameOf));
  return near === undefined ? undefined : known.find((key) => nameOf(key) === near);
}

/** Ignores case. */
function nameOf(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1).toLowerCase();
}

function placeOf(key: string): string | undefined {
  const end = key.lastIndexOf(".");
  return end === -1 ? undefined : key.slice(0, end);
}
