/**
 * Development: what happens on a development cluster, once there is one: controllers run, samples are created, a command is
 * run; the end comes with the command's, when all has settled, or with a signal.
 */
import type { Scope } from "../../async/mod.ts";
import { scope } from "../../async/mod.ts";
import type { EmbeddedCluster } from "../../cluster/mod.ts";
import type { Manager, OperatorController } from "../../manager/mod.ts";
import { CommandError } from "../command_error.ts";
import { Convergence } from "../convergence.ts";
import { type ExitCode, exitCode } from "../exit_code.ts";
import type { Session } from "../session.ts";
import type { DevFlags } from "./dev_flags.ts";
import { devManager } from "./dev_manager.ts";
import { runCommand } from "./run_command.ts";
import { createSamples } from "./samples.ts";
import { showTable, summaryOf } from "./summary.ts";

/** Why everything ends when nobody reads what controllers print: that is no failure of theirs. */
export const readerGone = new DOMException("Nobody reads the output any more", "AbortError");

/** What it is about. */
export interface DevelopmentOptions {
  readonly cluster: EmbeddedCluster;
  readonly controllers: readonly OperatorController[];
  readonly session: Session;
  readonly flags: DevFlags;
  /** Ends it, and is aborted when it is over. */
  readonly stopping: Scope;
}

/** One session of development. */
export class Development {
  readonly #options: DevelopmentOptions;
  readonly #convergence: Convergence;

  constructor(options: DevelopmentOptions) {
    this.#options = options;
    this.#convergence = new Convergence(options.session.surroundings.clock);
  }

  /** Runs it to its end. @param command What is run; empty: nothing. @throws the reason of `stopping` */
  async run(command: readonly string[], kubeconfig: string): Promise<ExitCode> {
    const { cluster, controllers, session, flags, stopping } = this.#options;
    const watched = flags.untilSettled ? controllers.map((one) => this.#convergence.watched(one)) : controllers;
    const manager = await devManager(cluster, watched, session);
    const running = manager.run(stopping.signal);
    try {
      if (!flags.untilSettled) await this.#createSamples();
      else {
        const settled = this.#settled(manager);
        await Promise.race([settled, running.then(() => settled)]);
      }
      if (flags.untilSettled && this.#convergence.failures.length > 0) return this.#summed();
      if (command.length > 0) return await runCommand(command, kubeconfig, session, stopping.signal);
      if (!flags.untilSettled) await running;
    } finally {
      stopping.abort(new DOMException("The development cluster ends", "AbortError"));
      await running;
    }
    return flags.untilSettled ? this.#summed() : exitCode.done;
  }

  async #createSamples(): Promise<void> {
    const { cluster, controllers, session, flags, stopping } = this.#options;
    if (!flags.samples) return;
    const created = await createSamples(cluster.client, controllers, stopping.signal);
    if (flags.quiet) return;
    session.say(created.length === 0 ? "there are no samples" : `samples: ${created.join(", ")}`);
  }

  /** Creates the samples and waits until nothing is left to do; a terminal shows how that goes. */
  async #settled(manager: Manager): Promise<void> {
    const { controllers, session, flags, stopping } = this.#options;
    const convergence = this.#convergence;
    using board = flags.quiet ? undefined : session.board();
    using showing = scope(stopping.signal);
    const { signal } = showing;
    const shown = board && showTable(board, controllers, { convergence, clock: session.surroundings.clock, signal });
    try {
      await this.#createSamples();
      await convergence.reached(manager, stopping.signal);
    } finally {
      showing.abort();
      await shown;
    }
  }

  /** The clear end: a table on stdout, and one line that says the same. @throws CommandError when something failed */
  #summed(): ExitCode {
    const { session, controllers, flags } = this.#options;
    const { failures, reconciled } = this.#convergence;
    if (session.surroundings.stdout.isTerminal) session.print("\n");
    session.print(summaryOf(controllers, this.#convergence, session.paint));
    const [first] = failures;
    if (first === undefined) {
      if (!flags.quiet) session.say(`everything has settled: ${reconciled} reconciled`);
      return exitCode.done;
    }
    const others = failures.length === 1 ? "" : `; and ${failures.length - 1} more`;
    const state = `${first.controller} ${first.key}: ${first.error}${others}`;
    throw new CommandError(`Cannot settle: ${state}`, { code: exitCode.failed, advice: "-v shows the details" });
  }
}

/** A signal came too early. */
export function endedBefore(): CommandError {
  return new CommandError("Cannot settle: it was ended before", { code: exitCode.failed });
}
