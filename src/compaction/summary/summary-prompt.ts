import type { CompactionStrategy } from "../strategy.js";

export interface SummaryPromptInput {
  readonly strategy: Pick<CompactionStrategy, "prompt">;
  readonly previousSummary?: string | undefined;
  /** The user's wishes for this summary. */
  readonly instructions?: string | undefined;
  /** A configured prompt that replaces the built-in one. */
  readonly custom?: string | undefined;
}

const contents = `Write a concise summary of the conversation so far; it takes the place of what it is about. Cover
- key decisions that were made, and why
- important information that was shared; what the user demands, forbids or prefers in the user's own words
- the current state of work, with tool calls that have no result yet
- unresolved issues and next steps

Keep file paths and identifiers exactly: names in code, commands, addresses, error messages. Leave out what is of no use any more. Do not go on with the work and call no tools; answer with the summary alone.`;

const structure = `Use this structure:

## Goal
(what the user wants to reach)

## Progress
### Done
(what is finished, with the files it is in)
### In Progress
(what was begun)
### Blocked
(what keeps it from going on)

## Key Decisions
(each with its reason)

## Next Steps
(in order)

## Critical Context
(what must not get lost: constraints of the user, identifiers, addresses, error messages)`;

const update = `There is a summary of what happened before the messages above. Update it:
- keep everything in it that still holds
- add what is new: progress, decisions, information
- move what was In Progress and is finished to Done
- bring Next Steps up to date
- keep its structure`;

/** Builds the last message of a summary request. */
export function summaryPrompt({ strategy, previousSummary, instructions, custom }: SummaryPromptInput): string {
  return [
    custom ?? `${strategy.prompt}\n\n${contents}`,
    ...(custom === undefined ? [structure] : []),
    ...(previousSummary === undefined
      ? []
      : [`${update}\n\n<previous_summary>\n${previousSummary}\n</previous_summary>`]),
    ...(instructions === undefined ? [] : [`The user asks for this in particular:\n${instructions}`]),
  ].join("\n\n");
}
