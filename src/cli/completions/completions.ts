/**
 * What makes a shell complete an operator's commands: a few lines that ask the operator itself, so that they never are
 * out of date. It answers with a line that says whether paths are wanted, then one for each word: the word, a tab, what
 * it is.
 */
/* MERGED completions.ts  `completions`: prints what makes a shell complete this program's commands, flags and names. */
import { z } from "zod";
import { exitCode, subcommand } from "../command/mod.ts";
import { listOf } from "../output/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** The shells that are known. */
export const shells = ["bash", "zsh", "fish"] as const;

/** One of them. */
type Shell = (typeof shells)[number];

/** The script for `shell`. @param program Name of the operator's program, a file name. */
export function completionScript(shell: Shell, program: string): string {
  const name = program.replaceAll(/[^A-Za-z0-9_]/g, "_");
  switch (shell) {
    case "bash":
      return bash(program, name);
    case "zsh":
      return zsh(program, name);
    case "fish":
      return fish(program, name);
    default:
      return shell satisfies never;
  }
}

/** For bash 3.2 too, which macOS has. What bash cuts off a word at `=` and `:` is not answered again. */
function bash(program: string, name: string): string {
  return `# bash completion for ${program}: source <(${program} completions bash)
_${name}_completions() {
  local answer paths="" line IFS=$'\\n'
  COMPREPLY=()
  answer=$("\${COMP_WORDS[0]}" __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return
  while IFS= read -r line; do
    if [ -z "$paths" ]; then paths=$line; else COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")"); fi
  done <<<"$answer"
  case $paths in
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]#=}")) ;;
    directory) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "\${COMP_WORDS[COMP_CWORD]#=}")) ;;
  esac
}
complete -o nosort -F _${name}_completions ${program} 2>/dev/null || complete -F _${name}_completions ${program}
`;
}

function zsh(program: string, name: string): string {
  return `#compdef ${program}
# zsh completion for ${program}: source <(${program} completions zsh), or a file _${program} in a folder of $fpath
_${name}_completions() {
  local -a lines words_found
  local line value
  lines=("\${(@f)$("\${words[1]}" __complete words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case \${lines[1]} in
    file) compset -P '--*='; _files; return ;;
    directory) compset -P '--*='; _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    value=\${line%%$'\\t'*}
    words_found+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -V '${program}' words_found
}
if [ "\${funcstack[1]}" = "_${program}" ]; then _${name}_completions; else compdef _${name}_completions ${program}; fi
`;
}

function fish(program: string, name: string): string {
  return `# fish completion for ${program}: ${program} completions fish | source
function __${name}_completions
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($words[1] __complete words -- $words[2..-1] $current 2>/dev/null)
  switch $lines[1]
    case file
      __fish_complete_path (string replace -r '^--[^=]*=' '' -- $current)
    case directory
      __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $current)
    case '*'
      printf '%s\\n' $lines[2..-1]
  end
end
complete -c ${program} -f -a '(__${name}_completions)'
`;
}

/** The command. */
export const completions = subcommand({
  description: [
    "Prints a script that makes a shell complete the commands of this program, their flags, the names of controllers, and",
    "contexts, clusters, users and namespaces. To have it in each new shell, write the line that sources it into",
    "~/.bashrc or ~/.zshrc, or the script into ~/.config/fish/completions.",
  ].join(" "),
  words: { syntax: "<shell>", about: shells.join(", "), choices: shells },
  examples: [
    { line: "bash >completions.bash", about: "then in bash: source completions.bash" },
    { line: "zsh >completions.zsh", about: "then in zsh: source completions.zsh" },
    { line: "fish | source", about: "in fish" },
  ],
  flags: z.object({}),
  run({ words: [word = ""], session }) {
    if (!isShell(word)) throw new UsageError(`Cannot complete in "${word}": ${listOf(shells)}`);
    session.print(completionScript(word, session.operator.name));
    return Promise.resolve(exitCode.done);
  },
});

function isShell(word: string): word is Shell {
  return shells.some((shell) => shell === word);
}
