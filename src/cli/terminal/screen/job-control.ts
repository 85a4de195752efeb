/** The process, as the interactive screen uses it. Each `on` returns a function that removes the listener. */
export interface JobControl {
  /** The process ends; only synchronous work is possible. */
  onExit(listener: () => void): () => void;
  /** Somebody asks the process to stop: SIGTSTP. */
  onStop(listener: () => void): () => void;
  /** The process was stopped and continues: SIGCONT. */
  onContinue(listener: () => void): () => void;
  /** Stops the process and those it was started with, as Ctrl-Z does. */
  stop(): void;
}

export function processJobControl(): JobControl {
  return {
    onExit: (listener) => on("exit", listener),
    onStop: (listener) => on("SIGTSTP", listener),
    onContinue: (listener) => on("SIGCONT", listener),
    stop: () => {
      // The signal stops this process only while it has no listener.
      const listeners = process.listeners("SIGTSTP");
      process.removeAllListeners("SIGTSTP");
      process.kill(0, "SIGTSTP");
      for (const listener of listeners) process.on("SIGTSTP", listener);
    },
  };
}

function on(event: "exit" | "SIGTSTP" | "SIGCONT", listener: () => void): () => void {
  process.on(event, listener);
  return () => void process.off(event, listener);
}
