import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { MockReply } from "../../src/mock-llm/script.js";

type Report = { readonly type: "listening"; readonly url: string } | { readonly type: "ready" | "request" };

/** A mock server in a process of its own, whose answer can be changed at any time. */
export class ScriptedServer implements Disposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  static async start(): Promise<ScriptedServer> {
    const child = fork(fileURLToPath(new URL("./threads/scripted-server.js", import.meta.url)));
    const [report] = (await once(child, "message")) as [Report];
    if (report.type !== "listening") throw new Error("the server did not start");
    return new ScriptedServer(report.url, child);
  }

  /** From now on every request gets this reply. */
  async answer(reply: MockReply): Promise<void> {
    this.#child.send(reply);
    await this.#reported("ready");
  }

  /** Resolves when the next request has arrived. */
  async requested(): Promise<void> {
    await this.#reported("request");
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }

  #reported(type: Report["type"]): Promise<void> {
    return new Promise((resolve) => {
      const onMessage = (report: Report): void => {
        if (report.type !== type) return;
        this.#child.off("message", onMessage);
        resolve();
      };
      this.#child.on("message", onMessage);
    });
  }
}
