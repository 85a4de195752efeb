import { commandGroups, commandNames } from "../../arguments/command-table.js";
import {
  type Candidates,
  commandArguments,
  type Described,
  firstWords,
  members,
  offeredFlags,
  valueFlags,
  wordsOf,
} from "./grammar.js";

/** A script for fish 3.1 and newer. Fish itself quotes what it inserts. */
export function fishScript(): string {
  return `# Completion of cody for fish. Written by: cody completion fish

# Prints the values of a flag; fails if it takes none.
function __cody_value
    switch $argv[1]
${valueFlags()
  .map(({ spellings, candidates }) => `        case ${spellings.join(" ")}\n            ${offer(candidates)}`)
  .join("\n")}
        case '*'
            return 1
    end
    return 0
end

# Prints the candidates for an argument of a command.
function __cody_argument
    switch $argv[1]/$argv[2]
${commandArguments()
  .flatMap(({ command, first, others }) => [
    ...first.map((candidates, index) => `        case ${command}/${index}\n            ${offer(candidates)}`),
    ...(others.length === 0 ? [] : [`        case '${command}/*'\n            ${offer(others)}`]),
  ])
  .join("\n")}
    end
end

# Prints the flags of a command.
function __cody_flags
    switch $argv[1]
${commandNames.map((name) => `        case ${quoted(name)}\n            ${lines(offeredFlags(name))}`).join("\n")}
    end
end

# Prints the commands of a group; fails if there is no such group.
function __cody_members
    switch $argv[1]
${commandGroups
  .map((group) => `        case ${wordsOf(group).join(" ")}\n            ${lines(members(group))}`)
  .join("\n")}
        case '*'
            return 1
    end
end

function __cody_conversations
    command cody completion --conversations </dev/null 2>/dev/null
end

function __cody_files
    __fish_complete_path (string replace --regex '^--[^=]*=' '' -- (commandline --current-token --cut-at-cursor))
end

# Prints the name of the command that the words run, and the number of its arguments.
function __cody_command
    switch "$argv[1] $argv[2]"
${commandGroups
  .flatMap((group) =>
    members(group).map(({ word, command }) => {
      const patterns = wordsOf(group).map((name) => quoted(`${name} ${word}`));
      return `        case ${patterns.join(" ")}\n            echo ${command}\n            math (count $argv) - 2\n            return`;
    }),
  )
  .join("\n")}
    end
    switch "$argv[1]"
        case ${commandNames.filter((name) => name !== "").join(" ")}
            echo $argv[1]
            math (count $argv) - 1
        case '*'
            echo ''
            count $argv
    end
end

function __cody_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l flag ''
    set -l behind 0
    set -l print 0
    set -l typed
    for word in $words[2..-1]
        if test $behind = 1
            set -a typed $word
        else if test "$word" = --
            set behind 1
            set flag ''
        else if string match --quiet --regex -- '^-.' "$word"
            set flag ''
            contains -- "$word" -p --print; and set print 1
            contains -- $word ${valueFlags()
              .flatMap(({ spellings }) => spellings)
              .join(" ")}
            and set flag $word
        else if test -n "$flag"
            set flag ''
        else
            set -a typed $word
        end
    end
    if test -n "$flag"; and not string match --quiet --regex -- '^-.' "$current"
        __cody_value $flag
        return
    end
    if test $behind = 0; and string match --quiet --regex -- '^--[^=]+=' "$current"
        set flag (string split --max 1 = -- $current)[1]
        for value in (__cody_value $flag)
            echo "$flag=$value"
        end
        return
    end
    set -l found (__cody_command $typed)
    test $print = 1; and set found exec (count $typed)
    if test $behind = 0; and string match --quiet --regex -- '^-' "$current"
        __cody_flags "$found[1]"
    else if test $behind = 0; and test -z "$found[1]"; and test (count $typed) = 0
        ${lines(firstWords())}
    else if test (count $typed) = 1; and __cody_members $typed[1]
        return
    else
        __cody_argument "$found[1]" $found[2]
    end
end

complete --command cody --no-files --keep-order --arguments '(__cody_complete)'
`;
}

function offer(candidates: Candidates): string {
  if (typeof candidates === "string") return `__cody_${candidates}`;
  return candidates.length === 0 ? "true" : `printf '%s\\n' ${candidates.map(quoted).join(" ")}`;
}

/** Prints words with their help texts, separated by tabs. */
function lines(described: readonly Described[]): string {
  const pairs = described.map(({ word, description }) => `${quoted(word)} ${quoted(description)}`);
  return `printf '%s\\t%s\\n' ${pairs.join(" ")}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}
