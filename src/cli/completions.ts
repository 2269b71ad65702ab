/** `completions`: prints what makes a shell complete this program's commands, flags and names. */
import { z } from "zod";
import { completionScript, type Shell, shells } from "./completions/scripts.ts";
import { exitCode } from "./exit_code.ts";
import { listOf } from "./select_controllers.ts";
import { subcommand } from "./subcommand.ts";
import { UsageError } from "./usage_error.ts";

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
