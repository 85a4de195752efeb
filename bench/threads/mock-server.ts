// A child process with the mock server of the built package, which always gives the same short answer.
import { startMockLlm } from "../support/built-testing.js";

const { url } = await startMockLlm({ script: { replies: [{ text: "The answer is 4." }], afterLast: "repeat" } });
process.send?.(url);
process.on("disconnect", () => process.exit());
