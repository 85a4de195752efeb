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

/**
 * A script for bash 3.2 and newer. It reads the line itself, because bash splits words at `:` and `=`, and it never
 * evaluates what was typed or what a conversation is called.
 */
export function bashScript(): string {
  return `# Completion of cody for bash. Written by: cody completion bash

# Splits the line up to the cursor. Sets words, the words before the current one; current, without its quotes; quote, the
# quote that is open; cut, the number of characters of current that bash does not replace.
_cody_split() {
  local line=\${COMP_LINE:0:COMP_POINT} index char inside="" before=0
  words=() current="" quote="" cut=0
  for ((index = 0; index < \${#line}; index++)); do
    char=\${line:index:1}
    case $quote$char in
      "''" | '""') quote="" cut=$before ;;
      "'"?) current+=$char ;;
      *\\\\) ((index += 1)); current+=\${line:index:1} inside=1 ;;
      '"'?) current+=$char ;;
      "'" | '"') quote=$char inside=1 before=$cut cut=\${#current} ;;
      ' ' | $'\\t')
        [[ -z $inside ]] || words+=("$current")
        current="" inside="" before=0 cut=0
        ;;
      *)
        current+=$char inside=1
        [[ $COMP_WORDBREAKS != *"$char"* ]] || cut=\${#current}
        ;;
    esac
  done
}

# Sets command, count (its arguments before the current word), flag (the one whose value follows), behind (after --) and
# typed (the words that are no flags).
_cody_parse() {
  local word
  command="" flag="" behind="" typed=()
  for word in "\${words[@]:1}"; do
    if [[ -n $behind ]]; then
      typed+=("$word")
    elif [[ $word == -- ]]; then
      behind=1 flag=""
    elif [[ $word == -?* ]]; then
      flag=""
      [[ $word != -p && $word != --print ]] || command=exec
      _cody_value "$word" && flag=$word
    elif [[ -n $flag ]]; then
      flag=""
    else
      typed+=("$word")
    fi
  done
  count=\${#typed[@]}
  [[ -z $command ]] || return 0
  case "\${typed[0]-} \${typed[1]-}" in
${commandGroups
  .flatMap((group) =>
    members(group).map(({ word, command }) => {
      const pattern = wordsOf(group).map((name) => quoted(`${name} ${word}`));
      return `    ${pattern.join(" | ")}) command=${command}; ((count -= 2)) || :; return 0 ;;`;
    }),
  )
  .join("\n")}
  esac
  case "\${typed[0]-}" in
    ${namesOf(commandNames.filter((name) => name !== ""))}) command=\${typed[0]}; ((count -= 1)) || : ;;
  esac
}

# Sets offer for the value of a flag; fails if it takes none.
_cody_value() {
  offer=""
  case $1 in
${valueFlags()
  .map(({ spellings, candidates }) => `    ${namesOf(spellings)}) ${offer(candidates)} ;;`)
  .join("\n")}
    *) return 1 ;;
  esac
}

# Sets offer for an argument of a command.
_cody_argument() {
  offer=""
  case $1/$2 in
${commandArguments()
  .flatMap(({ command, first, others }) => [
    ...first.map((candidates, index) => `    ${command}/${index}) ${offer(candidates)} ;;`),
    ...(others.length === 0 ? [] : [`    ${command}/*) ${offer(others)} ;;`]),
  ])
  .join("\n")}
  esac
}

# Sets offer to the commands of the group that was typed; fails if none was.
_cody_members() {
  [[ \${#typed[@]} -eq 1 ]] || return 1
  case \${typed[0]} in
${commandGroups.map((group) => `    ${namesOf(wordsOf(group))}) ${offer(wordsIn(members(group)))} ;;`).join("\n")}
    *) return 1 ;;
  esac
}

# Sets offer to the flags of a command.
_cody_flags() {
  case $1 in
${commandNames.map((name) => `    ${quoted(name)}) ${offer(wordsIn(offeredFlags(name)))} ;;`).join("\n")}
  esac
}

# Adds a candidate to COMPREPLY, quoted like the current word, if it begins like it.
_cody_add() {
  local text=$1
  [[ \${text:0:\${#current}} == "$current" ]] || return 0
  text=\${text:cut}
  case $quote in
    "'") text=\${text//"'"/"'\\\\''"} ;;
    '"') text=\${text//\\\\/\\\\\\\\}; text=\${text//\\"/\\\\\\"}; text=\${text//\\$/\\\\\\$}; text=\${text//\\\`/\\\\\\\`} ;;
    *) printf -v text %q "$text" ;;
  esac
  COMPREPLY+=("$text")
}

_cody() {
  local words current quote cut command count flag behind typed offer word prefix=""
  COMPREPLY=()
  _cody_split
  _cody_parse
  if [[ -n $flag && $current != -?* ]]; then
    _cody_value "$flag"
  elif [[ -z $behind && $current == --*=* ]]; then
    prefix=\${current%%=*}=
    _cody_value "\${current%%=*}" || return 0
  elif [[ -z $behind && $current == -* ]]; then
    _cody_flags "$command"
  elif [[ -z $behind && -z $command && \${#typed[@]} -eq 0 ]]; then
    ${offer(wordsIn(firstWords()))}
  elif ! _cody_members; then
    _cody_argument "$command" "$count"
  fi
  # With no candidates, bash offers files.
  [[ $offer == @files ]] || compopt +o default 2> /dev/null
  if [[ $offer == @conversations ]]; then
    while IFS=$'\\t' read -r word _; do
      _cody_add "$prefix$word"
    done < <(command cody completion --conversations < /dev/null 2> /dev/null)
  elif [[ $offer != @files ]]; then
    for word in $offer; do _cody_add "$prefix$word"; done
  fi
}

complete -o default -F _cody cody
`;
}

function offer(candidates: Candidates): string {
  if (typeof candidates === "string") return `offer=@${candidates}`;
  return `offer=${quoted(candidates.join(" "))}`;
}

function wordsIn(described: readonly Described[]): string[] {
  return described.map(({ word }) => word);
}

/** A pattern that matches any of the words, none of which needs quotes. */
function namesOf(words: readonly string[]): string {
  return words.join(" | ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
