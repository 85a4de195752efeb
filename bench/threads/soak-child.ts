// A child process of the benchmark `soak`: the server, or the client.
import type { SoakLoad } from "../soak/load.js";
import { playSoak } from "../soak/play-soak.js";
import { serveSoak } from "../soak/soak-server.js";

const [what, text] = process.argv.slice(2);
if (what === "server") await serve();
else
  process.send?.(await playSoak(JSON.parse(text ?? "") as SoakLoad), undefined, undefined, () => process.disconnect());

async function serve(): Promise<void> {
  const server = await serveSoak();
  process.on("message", () => process.send?.(server.report()));
  process.on("disconnect", () => process.exit());
  process.send?.(server.urls);
}
