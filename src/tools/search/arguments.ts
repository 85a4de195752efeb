import * as z from "zod";
import { ArgumentText } from "../argument-text.js";

const maxLimit = 1_000;

export const StartPath = ArgumentText.min(1)
  .optional()
  .describe("The file or folder to search, relative to the working folder; the whole folder by default");

export const Glob = ArgumentText.min(1)
  .optional()
  .describe('Which files, such as "*.ts" or "!test/**"; all by default. A glob with a folder also finds ignored files');

export function limitOf(usual: number) {
  return z.int().min(1).max(maxLimit).optional().describe(`Maximum number of lines; ${usual} by default`);
}
