// Plays each situation in a terminal and renders its screen to docs/images.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pathToFileURL } from "node:url";
import type { Emulator } from "../../test/terminal/support/emulator.js";
import { pageOf, pageSize } from "./page.js";
import { situations } from "./situations.js";
import { Stage } from "./stage.js";

const run = promisify(execFile);
const folder = join(process.cwd(), "docs/images");
/** Device pixels per CSS pixel. */
const scale = 2;
const paletteSize = 72;
const wanted = process.argv.slice(2);

await mkdir(folder, { recursive: true });
for (const situation of situations) {
  const { name, replies } = situation;
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  await using stage = await Stage.open(replies);
  const path = join(folder, `${name}.png`);
  await writePicture((await situation.play(stage)).emulator, path);
  console.log(`docs/images/${name}.png, ${Math.ceil((await stat(path)).size / 1024)} KB`);
}

async function writePicture(emulator: Emulator, path: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "cody-picture-"));
  try {
    const [page, shot] = [join(work, "page.html"), join(work, "shot.png")];
    await writeFile(page, pageOf(emulator));
    const { width, height } = pageSize(emulator);
    await run(process.env["CODY_TEST_CHROMIUM"] ?? "chromium", [
      "--headless",
      // Needed because tests often run as root.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      // Grey edges have fewer colours than those for the subpixels of a screen.
      "--disable-lcd-text",
      "--hide-scrollbars",
      `--user-data-dir=${join(work, "profile")}`,
      `--force-device-scale-factor=${scale}`,
      `--window-size=${width},${height}`,
      `--screenshot=${shot}`,
      pathToFileURL(page).href,
    ]);
    await run("pngquant", [
      "--force",
      "--strip",
      "--speed",
      "1",
      "--nofs",
      "--output",
      path,
      String(paletteSize),
      shot,
    ]);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
