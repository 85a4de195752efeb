import { resolve } from "node:path";
import * as z from "zod";
import type { ToolOutput } from "../messages/tools/tool.js";
import { PathArgument, defineTool, readCommand } from "./define-tool.js";
import { failureText, FileProblem } from "./files/file-problem.js";
import { fitImage, maxImageBytes } from "./files/fit-image.js";
import { openForModel } from "./files/open-for-model.js";
import { readAt } from "../base/fs/open-regular.js";
import type { ToolContext } from "./tool.js";

export const viewImage = defineTool({
  name: "view_image",
  description: "Shows you an image from a file: png, jpeg, gif or webp.",
  parameters: z.strictObject({ path: PathArgument }),
  readOnly: true,
  readsOutside: false,
  command: (args, scope) => readCommand("view_image", args, scope),
  run: async ({ path }, context) => {
    const absolute = resolve(context.cwd, path);
    try {
      return await view(absolute, context);
    } catch (error) {
      return { content: `cannot view ${absolute}: ${failureText(error)}`, success: false };
    }
  },
});

async function view(path: string, context: ToolContext): Promise<ToolOutput> {
  const bytes = await readImage(path, context);
  if (context.signal.aborted) throw new FileProblem("interrupted");
  const image = fitImage(bytes);
  if (!image.ok) throw new FileProblem(image.problem);
  return {
    content: `${path} (${image.type}, ${bytes.length} bytes)`,
    success: true,
    images: [image.url],
  };
}

async function readImage(path: string, context: ToolContext): Promise<Buffer> {
  const { file, realPath, stats } = await openForModel(path, context);
  try {
    await context.noteRead?.(realPath);
    if (stats.size > maxImageBytes) throw new FileProblem(`it is larger than ${maxImageBytes} bytes`);
    return await readAt(file, 0, Number(stats.size));
  } finally {
    await file.close();
  }
}
