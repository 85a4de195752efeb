import { basename } from "node:path";
import { v5 as uuidv5 } from "uuid";
import { bareId } from "../../../base/text/conversation-id.js";
import { newRolloutPath } from "../../layout.js";
import { endingOf, type ExportFormat } from "./export-format.js";
import type { ExportFacts } from "./export-facts.js";

type Named = Pick<ExportFacts, "conversationId" | "title" | "createdAt">;

const maxSlugChars = 50;
const shortIdChars = 8;
const secondMs = 1000;
const codyUrl = "urn:cody:conversation";

/** Names an export file by the conversation's date, its title and the end of its id. */
export function exportName(named: Named, format: ExportFormat, attempt: number): string {
  if (format === "codex") return codexName(named, attempt);
  const day = dateOf(named).toISOString().slice(0, 10);
  const id = bareId(named.conversationId)
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(-shortIdChars);
  const form = format === "envoy" || format === "diligent" ? `${format}.` : "";
  const number = attempt === 1 ? "" : `-${attempt}`;
  return `${["cody", day, ...slugOf(named.title), id].join("-")}${number}.${form}${endingOf(format)}`;
}

/** Codex finds a rollout by its name, so further attempts get a later time instead of a number. */
function codexName({ conversationId, createdAt }: Named, attempt: number): string {
  const now = new Date(dateOf({ createdAt }).getTime() + (attempt - 1) * secondMs);
  return basename(newRolloutPath("codex", "/", { conversationId: codexId(conversationId), now, cwd: "/" }));
}

/** Codex accepts only UUIDs, so any other id is mapped to a UUID that stays the same. */
export function codexId(conversationId: string): string {
  const id = bareId(conversationId);
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : uuidv5(`${codyUrl}:${id}`, uuidv5.URL);
}

function dateOf({ createdAt }: Pick<Named, "createdAt">): Date {
  const date = new Date(createdAt);
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

/** Uses only letters and digits of any script, which are safe in every file system and shell. */
function slugOf(title: string): string[] {
  const words =
    title
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const [first = "", ...others] = words;
  // Scripts without spaces produce one long word.
  let slug = Array.from(first).slice(0, maxSlugChars).join("");
  for (const word of others) {
    if (slug.length + 1 + word.length > maxSlugChars) break;
    slug += `-${word}`;
  }
  return slug === "" ? [] : [slug];
}
