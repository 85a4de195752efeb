// Writes the pictures of the terminal in docs/images: `npm run screenshots`, or only one with `-- welcome`. Needs Debian's chromium, pngquant,
// fonts-dejavu-core and fonts-noto-cjk. Look at every picture afterwards.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfNeeded } from "./build.mjs";
import { bundle } from "./bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const input = { screenshots: "scripts/screenshots/main.ts" };

await Promise.all([buildIfNeeded(), bundle({ format: "esm", input, directory: "build/scripts" })]);
const program = join(root, "build/scripts/screenshots.js");
const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
