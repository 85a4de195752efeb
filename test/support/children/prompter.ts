import { PromptHistory } from "../../../src/cli/terminal/model/prompt-history.js";

// Adds texts to a prompt history, one after the other.
const { file, texts } = JSON.parse(process.argv[2] ?? "") as { readonly file: string; readonly texts: string[] };
const history = PromptHistory.open({
  file,
  redactor: { redact: (text) => text },
  now: Date.now,
  onProblem: (text) => {
    throw new Error(text);
  },
});
for (const text of texts) {
  history.add(text);
  await history.flush();
}
