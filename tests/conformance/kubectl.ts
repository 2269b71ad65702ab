/** kubectlOf(): runs kubectl with one kubeconfig and an empty cache. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { run, type RunOptions } from "../controlplane/run.ts";
import type { RunKubectl } from "./case_run.ts";

/** @param program path of kubectl */
export function kubectlOf(program: string, kubeconfig: string): RunKubectl {
  return async (args, { stdin, env = {}, onObjects }) => {
    const cache = join(tmpdir(), `pintle-kubectl-${randomUUID()}`);
    const variables = { KUBECONFIG: kubeconfig, KUBECACHEDIR: cache, KUBERC: "off", TZ: "UTC", ...env };
    const reaction = onObjects === undefined ? undefined : new Reaction(onObjects);
    const options: RunOptions = {
      env: variables,
      ...(stdin === undefined ? {} : { stdin }),
      ...(reaction === undefined ? {} : { onStdout: reaction.onStdout }),
    };
    const result = await run(program, args, options);
    rmSync(cache, { recursive: true, force: true });
    if (result.kind === "missing") throw new Error(`Cannot run kubectl: there is no "${program}"`);
    return await reaction?.isOver() === true ? { ...result, code: 0 } : result;
  };
}

/** Runs one action for each object that a watching command prints, and ends the command after the last action. */
class Reaction {
  readonly #actions: readonly (() => Promise<unknown>)[];
  #started = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(actions: readonly (() => Promise<unknown>)[]) {
    this.#actions = actions;
  }

  readonly onStdout = (stdout: string, end: () => void): void => {
    const objects = stdout.split("\n").length - 2; // without the header and what follows the last line
    for (const action of this.#actions.slice(this.#started, objects)) {
      this.#started++;
      const isLast = this.#started === this.#actions.length;
      this.#running = this.#running.then(action).finally(isLast ? end : undefined);
      this.#running.catch(end);
    }
  };

  /** Whether all actions ran. @throws whatever an action rejected with */
  async isOver(): Promise<boolean> {
    await this.#running;
    return this.#started === this.#actions.length;
  }
}
