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

/** A script for zsh: a file named `_cody` in a folder of `$fpath`, or sourced. */
export function zshScript(): string {
  return `#compdef cody
# Completion of cody for zsh. Written by: cody completion zsh

# Offers what the entries of the array say: words with their help texts.
_cody_words() {
  _describe -t words cody entries
}

# Offers names and ids, with the titles of their conversations; zsh quotes them.
_cody_conversations() {
  local line
  local -a names shown
  for line in "\${(@f)$(command cody completion --conversations < /dev/null 2> /dev/null)}"; do
    [[ -n $line ]] || continue
    names+=("\${line%%$'\\t'*}")
    shown+=("\${line%%$'\\t'*}  -- \${line#*$'\\t'}")
  done
  compadd -l -d shown -a names
}

# Offers the values of a flag; fails if it takes none. With a second argument it only checks that.
_cody_value() {
  local -a entries
  local offer=words
  case $1 in
${valueFlags()
  .map(({ spellings, candidates }) => `    ${spellings.join("|")}) ${offer(candidates)} ;;`)
  .join("\n")}
    *) return 1 ;;
  esac
  [[ -n $2 ]] || _cody_offer $offer
}

# Offers an argument of a command.
_cody_argument() {
  local -a entries
  local offer=words
  case $1/$2 in
${commandArguments()
  .flatMap(({ command, first, others }) => [
    ...first.map((candidates, index) => `    ${command}/${index}) ${offer(candidates)} ;;`),
    ...(others.length === 0 ? [] : [`    ${command}/*) ${offer(others)} ;;`]),
  ])
  .join("\n")}
  esac
  _cody_offer $offer
}

_cody_offer() {
  case $1 in
    files) _files ;;
    conversations) _cody_conversations ;;
    words) _cody_words ;;
  esac
}

# Offers the flags of a command.
_cody_flags() {
  local -a entries
  case $1 in
${commandNames.map((name) => `    ${quoted(name)}) ${entries(offeredFlags(name))} ;;`).join("\n")}
  esac
  _describe -o -t options option entries
}

_cody() {
  local word command="" flag="" behind=""
  local -a typed entries
  local -i count
  for word in "\${(@Q)words[2,CURRENT-1]}"; do
    if [[ -n $behind ]]; then
      typed+=("$word")
    elif [[ $word == -- ]]; then
      behind=1 flag=""
    elif [[ $word == -?* ]]; then
      flag=""
      [[ $word != -p && $word != --print ]] || command=exec
      _cody_value "$word" check && flag=$word
    elif [[ -n $flag ]]; then
      flag=""
    else
      typed+=("$word")
    fi
  done
  if [[ -n $flag && $PREFIX != -?* ]]; then
    _cody_value "$flag"
    return
  elif [[ -z $behind && $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
    _cody_value "$flag"
    return
  fi
  count=$#typed
  if [[ -z $command ]]; then
    case $typed[1] in
      ${either(commandNames.filter((name) => name !== ""))}) command=$typed[1] count=$((count - 1)) ;;
    esac
    case "$typed[1] $typed[2]" in
${commandGroups
  .flatMap((group) =>
    members(group).map(({ word, command }) => {
      const patterns = wordsOf(group).map((name) => quoted(`${name} ${word}`));
      return `      ${either(patterns)}) command=${command} count=$(($#typed - 2)) ;;`;
    }),
  )
  .join("\n")}
    esac
  fi
  if [[ -z $behind && $PREFIX == -* ]]; then
    _cody_flags "$command"
    return
  fi
  if [[ -z $behind && -z $command && $#typed -eq 0 ]]; then
    ${entries(firstWords())}
    _describe -t commands command entries
    return
  fi
  if (( $#typed == 1 )); then
    case $typed[1] in
${commandGroups.map((group) => `      ${either(wordsOf(group))}) ${entries(members(group))} ;;`).join("\n")}
    esac
    if (( $#entries > 0 )); then
      _describe -t commands command entries
      return
    fi
  fi
  _cody_argument "$command" $count
}

if [[ $funcstack[1] == _cody ]]; then
  _cody "$@"
else
  compdef _cody cody
fi
`;
}

function offer(candidates: Candidates): string {
  if (typeof candidates === "string") return `offer=${candidates}`;
  return `entries=(${candidates.map(quoted).join(" ")})`;
}

/** Assigns an array for \`_describe\`. */
function entries(described: readonly Described[]): string {
  return `entries=(${described.map(({ word, description }) => quoted(`${word}:${description}`)).join(" ")})`;
}

function either(patterns: readonly string[]): string {
  return patterns.join("|");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
