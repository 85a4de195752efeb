// A child process that answers every request with the same summary.
import { startMockLlm } from "../support/built-testing.js";

const replies = [{ text: "The summary of it all. ".repeat(100) }];
const { url } = await startMockLlm({ script: { replies, afterLast: "repeat" } });
process.send?.(url);
process.on("disconnect", () => process.exit());
