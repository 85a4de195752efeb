import * as z from "zod";
import { ArgumentText } from "../argument-text.js";

const maxLimit = 1_000;

export const StartPath = ArgumentText.min(1)
  .optional()
  .describe("Where to look, relative to the working folder; all of it unless said");

export const Glob = ArgumentText.min(1)
  .optional()
  .describe('Which files, such as "*.ts" or "!test/**"; all unless said. One with a folder finds ignored files too');

export function limitOf(usual: number) {
  return z.int().min(1).max(maxLimit).optional().describe(`How many lines to give at most; ${usual} unless said`);
}
