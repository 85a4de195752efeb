import { chatCommand } from "./commands/chat.js";
import { compactCommand } from "./commands/compact.js";
import { configCommand } from "./commands/config.js";
import { contextCommand } from "./commands/context.js";
import { forkCommand } from "./commands/fork.js";
import { exportCommand } from "./commands/export.js";
import { interactiveCommand } from "./commands/interactive.js";
import { modelsCommand } from "./commands/models.js";
import { newCommand } from "./commands/new.js";
import { pinCommand, unpinCommand } from "./commands/pin.js";
import { renameCommand } from "./commands/rename.js";
import { resumeCommand } from "./commands/resume.js";
import { setProviderCommand } from "./commands/set-provider.js";
import type { Command } from "./context.js";

/** The commands that load the conversation manager or the schemas. */
export const managerCommands = {
  new: newCommand,
  chat: chatCommand,
  resume: resumeCommand,
  fork: forkCommand,
  rename: renameCommand,
  pin: pinCommand,
  unpin: unpinCommand,
  compact: compactCommand,
  context: contextCommand,
  setProvider: setProviderCommand,
  config: configCommand,
  models: modelsCommand,
  interactive: interactiveCommand,
  export: exportCommand,
} satisfies Record<string, Command>;
