import { realpath } from "node:fs/promises";
import { resolve, extname } from "node:path";
import { isInside } from "../../base/fs/path-checks.js";
import { InvalidInputError } from "../../base/errors.js";
import { NotRegularError, readRegular, TooLargeError } from "../../base/fs/open-regular.js";
import { isDeeperThan } from "../../base/is-deeper-than.js";
import { systemReason } from "../../base/system-error.js";
import { realRootOf } from "../../config/project/project.js";
import type { ConversationOp } from "../../messages/actors/conversation.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import type { Op } from "../../messages/submission.js";
import type { InlineInput, UserInput } from "../../messages/user-input.js";
import { maxLineDepth } from "../../rollouts/file/lines.js";

/**
 * Maximum JSON bytes of one submission. A reader takes a longer line for damage, so a larger submission could be saved
 * but never read again.
 */
const maxSubmissionBytes = 48 * 1024 * 1024;

/** Maximum depth of a submission, which is nested some levels deep in its line. */
const maxSubmissionDepth = maxLineDepth - 10;

/** Maximum size of an image in a submission. */
const maxImageBytes = 20 * 1024 * 1024;

const mediaTypes: Readonly<Record<string, string>> = {
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
};

/** Wraps the input in an op, without validating it. */
export function toOp(input: string | readonly UserInput[] | Op): unknown {
  if (typeof input === "string") return { type: "user_input", items: [{ type: "text", text: input }] };
  return Array.isArray(input) ? { type: "user_input", items: input } : input;
}

export function toInputOp(input: string | readonly UserInput[], schema: OutputSchema | undefined): Op {
  // Other ops have no turn to wait for.
  if (typeof input === "object" && !Array.isArray(input))
    throw new InvalidInputError("input: expected a text or a list");
  const op = toOp(input) as Extract<Op, { type: "user_input" }>;
  return schema === undefined ? op : { ...op, final_output_json_schema: schema };
}

/** Reads local images when they are submitted, because a turn must not depend on a file that may change. */
export async function inlineImages(op: Op, cwd: string): Promise<ConversationOp> {
  if (op.type !== "user_input" && op.type !== "user_turn" && op.type !== "steer" && op.type !== "queue") return op;
  const items = await Promise.all(
    op.items.map(async (item): Promise<InlineInput> =>
      item.type === "local_image" ? readLocalImage(item.path, cwd) : item,
    ),
  );
  const schema = op.type === "steer" ? undefined : op.final_output_json_schema;
  const outside = (await hasOutsideImage(op.items, cwd)) ? { outside_content: true } : {};
  const copy = jsonCopy({ items, ...(schema ? { final_output_json_schema: schema } : {}) }, "submission");
  return { ...op, ...copy, ...outside };
}

/** Whether an image is from the web, or from a file outside the project. */
async function hasOutsideImage(items: readonly UserInput[], cwd: string): Promise<boolean> {
  if (items.some((item) => item.type === "image" && /^https?:/i.test(item.image_url))) return true;
  const paths = items.flatMap((item) => (item.type === "local_image" ? [item.path] : []));
  if (paths.length === 0) return false;
  const root = await realRootOf(cwd);
  const found = await Promise.all(paths.map((path) => realpath(resolve(cwd, path)).catch(() => undefined)));
  return root === undefined || found.some((path) => path === undefined || !isInside(root, path));
}

async function readLocalImage(path: string, cwd: string): Promise<InlineInput> {
  const mediaType = mediaTypes[extname(path).toLowerCase()];
  if (mediaType === undefined) throw new InvalidInputError(`image ${path}: expected a png, jpeg, gif or webp file`);
  try {
    const bytes = await readRegular(resolve(cwd, path), { links: "follow", maxBytes: maxImageBytes });
    return { type: "image", image_url: `data:${mediaType};base64,${bytes.toString("base64")}` };
  } catch (error) {
    if (error instanceof NotRegularError) throw new InvalidInputError(`image ${path}: not a file`);
    if (error instanceof TooLargeError) {
      throw new InvalidInputError(`image ${path}: larger than ${maxImageBytes} bytes`);
    }
    throw new InvalidInputError(`image ${path}: cannot read the file: ${systemReason(error)}`);
  }
}

/** Returns a JSON copy; throws for values that JSON cannot represent and for values too large to be read back. */
export function jsonCopy<T extends object>(value: T, what: string): T {
  const text = jsonText(value, what);
  if (Buffer.byteLength(text) > maxSubmissionBytes) {
    throw new InvalidInputError(`${what}: larger than ${maxSubmissionBytes} bytes; send it in smaller pieces`);
  }
  const copy = JSON.parse(text) as T;
  if (isDeeperThan(copy, maxSubmissionDepth)) throw new InvalidInputError(`${what}: nested too deeply`);
  return copy;
}

function jsonText(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidInputError(`${what}: cannot be converted to JSON`);
  }
}
