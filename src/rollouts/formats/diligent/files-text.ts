import { isRecord } from "../../../base/is-record.js";
import type { LineObject } from "../../file/line-object.js";

/** Returns the file lists to append to the summary, unless it contains them already. */
export function filesText({ summary, details }: LineObject): string {
  if (!isRecord(details) || /^(?:## Files (?:Read|Modified)|<(?:read|modified)-files>)$/m.test(String(summary)))
    return "";
  return listText("Files Read", details["readFiles"]) + listText("Files Modified", details["modifiedFiles"]);
}

function listText(title: string, files: unknown): string {
  const names = Array.isArray(files) ? files.filter((file) => typeof file === "string") : [];
  return names.length === 0 ? "" : `\n\n## ${title}\n${names.map((name) => `- ${name}`).join("\n")}`;
}
