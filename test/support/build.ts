import { build } from "../../scripts/build.mjs";

/** Thread entries and the command line are tested as they are built, so the build comes first. */
export default async function setup(): Promise<void> {
  await build({ declarations: false });
}
