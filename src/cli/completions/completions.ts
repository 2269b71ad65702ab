/**
 * `completions`: prints a script that makes a shell complete the commands, flags and names of an operator.
 *
 * A script has a few lines that call the program itself with the hidden command `__complete`, so that it is never out of date.
 * The response is one line that says whether the shell should complete paths, then one line for each candidate: the word, a
 * tab, a description.
 */
import { z } from "zod";
import { exitCode, subcommand } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { listOf } from "../output/mod.ts";

/** The supported shells. */
export const shells = ["bash", "zsh", "fish"] as const;

type Shell = (typeof shells)[number];

/** The command. */
export const completions = subcommand({
  description: [
    "Prints a script that makes a shell complete the commands and flags of this program, and the names of controllers,",
    "contexts, clusters, users and namespaces. To load it in every new shell, source it in ~/.bashrc or ~/.zshrc, or write",
    "it to ~/.config/fish/completions.",
  ].join(" "),
  positionals: { syntax: "<shell>", about: shells.join(", "), choices: shells },
  examples: [
    { line: "bash >completions.bash", about: "for bash; load it with: source completions.bash" },
    { line: "zsh >completions.zsh", about: "for zsh; load it with: source completions.zsh" },
    { line: "fish | source", about: "for fish, in the present shell" },
  ],
  flags: z.object({}),
  run({ positionals: [shell = ""], session }) {
    if (!isShell(shell)) throw new UsageError(`Cannot complete in "${shell}": ${listOf(shells)}`);
    session.printDocument(completionScript(shell, session.operator.name));
    return Promise.resolve(exitCode.done);
  },
});

function isShell(text: string): text is Shell {
  return shells.some((shell) => shell === text);
}

/** Returns the script for `shell`. @param program The file name of the operator's program */
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

/** Works with bash 3.2 of macOS, too. Bash splits a word at `=` and `:`; the response only has the last part. */
function bash(program: string, name: string): string {
  return `# bash completion for ${program}: source <(${program} completions bash)
_${name}_completions() {
  local response paths="" line IFS=$'\\n'
  COMPREPLY=()
  response=$("\${COMP_WORDS[0]}" __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return
  while IFS= read -r line; do
    if [ -z "$paths" ]; then paths=$line; else COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")"); fi
  done <<<"$response"
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
