import { type CommandContext, printLine } from "../../../context.js";
import { type Finding, needsPerson } from "./finding.js";
import { findingHelp, findingText } from "./finding-text.js";
import { counted } from "../../../../base/text/counted.js";

/** More of one kind than these are only counted for a person, */
const maxShown = 20;
/** and more than these for a program. */
const maxListed = 1000;

/** What is told of a store while it is looked at, and at the end: bounded, however much is wrong. */
export class DoctorReport {
  readonly #context: CommandContext;
  readonly #repairCommand: (finding: Finding) => Promise<string>;
  readonly #listed: object[] = [];
  #problems = 0;
  #notes = 0;
  conversations = 0;

  constructor(context: CommandContext, repairCommand: (finding: Finding) => Promise<string>) {
    this.#context = context;
    this.#repairCommand = repairCommand;
  }

  get problems(): number {
    return this.#problems;
  }

  async add(finding: Finding): Promise<void> {
    const isProblem = needsPerson[finding.kind];
    const number = isProblem ? (this.#problems += 1) : (this.#notes += 1);
    if (this.#context.flags.json) await this.#list(finding, isProblem);
    else if (number <= maxShown) await this.#show(finding, isProblem ? "✗" : "·");
  }

  async end(interrupted: boolean): Promise<void> {
    const [problems, notes] = [this.#problems, this.#notes];
    if (this.#context.flags.json) {
      const facts = { conversations: this.conversations, problems, notes, findings: this.#listed, interrupted };
      return await printLine(this.#context, JSON.stringify(facts));
    }
    const hidden = [counted(problems - maxShown, "more problem"), counted(notes - maxShown, "more note")];
    const lines = [problems, notes].flatMap((all, index) => (all > maxShown ? [`  and ${hidden[index]}`] : []));
    const done = `${interrupted ? "Interrupted after" : "Checked"} ${counted(this.conversations, "conversation")}`;
    const verdict = problems > 0 ? counted(problems, "problem") : interrupted ? "no problem so far" : "all is well";
    lines.push(`${done}: ${[verdict, ...(notes > 0 ? [counted(notes, "note")] : [])].join(", ")}`);
    return await printLine(this.#context, lines.join("\n"));
  }

  async #show(finding: Finding, mark: string): Promise<void> {
    const help = findingHelp(finding, await this.#repairCommand(finding));
    const lines = [`${mark} ${findingText(finding)}`, ...(help ? [`  ${help.lead}: ${help.command}`] : [])];
    await printLine(this.#context, lines.join("\n"));
  }

  async #list(finding: Finding, isProblem: boolean): Promise<void> {
    if (this.#listed.length === maxListed) return;
    const help = findingHelp(finding, await this.#repairCommand(finding))?.command ?? null;
    this.#listed.push({ ...finding, needsPerson: isProblem, help });
  }
}
