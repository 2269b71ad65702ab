/**
 * ConfigReloader: reads the configuration file of `run` again when it changes, or after SIGHUP, and passes on what a running
 * process can take over.
 *
 * Guarantees: values are taken over together, and only when the whole file is valid; otherwise an error is logged and the
 * old values stay. A changed value that needs a restart is logged as such, once. A replacement is noticed within one poll,
 * also of a symbolic link, as ConfigMap volumes do it.
 */
import { type Clock, scope } from "../../async/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import { fileStat, type SignalName } from "../../runtime/mod.ts";
import type { ConfigurationFile, FlagValues } from "../command/mod.ts";
import type { Setting } from "../flags/mod.ts";

/** Options of a {@link ConfigReloader}. */
export interface ConfigReloaderOptions<Flags> {
  readonly file: ConfigurationFile<Flags>;
  /** The values that the process has started with. */
  readonly started: FlagValues<Flags>;
  /** @throws Error when values cannot be taken over */
  readonly check: (values: FlagValues<Flags>) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** The signals after which the file is read. */
  readonly signals: readonly SignalName[];
  readonly onSignal: (signals: readonly SignalName[], react: (signal: SignalName) => void) => Disposable;
  /** Returns a text that is another one when the file has changed. @default from its facts */
  readonly identify?: (path: string) => Promise<string | undefined>;
}

/** Milliseconds between two looks at the file, as for certificates. */
const pollMs = 10_000;

/** Disposing it ends the subscription to the signals. */
export class ConfigReloader<Flags> implements Disposable {
  readonly #options: ConfigReloaderOptions<Flags>;
  readonly #reactions: ((values: FlagValues<Flags>) => void)[] = [];
  readonly #listening: Disposable;
  #settings: ReadonlyMap<string, Setting>;
  #isSignalled = false;
  #wake: (() => void) | undefined;

  constructor(options: ConfigReloaderOptions<Flags>) {
    this.#options = options;
    this.#settings = byKey(options.started.settings);
    const { signals, onSignal } = options;
    this.#listening = signals.length === 0 ? { [Symbol.dispose]: () => {} } : onSignal(signals, () => {
      this.#isSignalled = true;
      this.#wake?.();
    });
  }

  /** Calls `react` with the new values whenever one that can be reloaded has changed. */
  onReload(react: (values: FlagValues<Flags>) => void): void {
    this.#reactions.push(react);
  }

  /** Follows the file until `stop`. */
  async run(stop: AbortSignal): Promise<void> {
    const { file, identify = identityOf } = this.#options;
    // The first poll reads the file in any case: it may have changed since the start.
    let known: string | undefined = "";
    while (!stop.aborted) {
      await this.#sleep(stop);
      if (stop.aborted) return;
      const identity = await identify(file.path).catch(() => undefined);
      if (identity === known && !this.#isSignalled) continue;
      known = identity;
      this.#isSignalled = false;
      await this.#reload();
    }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  async #sleep(stop: AbortSignal): Promise<void> {
    if (this.#isSignalled) return;
    using waiting = scope(stop);
    this.#wake = () => waiting.abort();
    await this.#options.clock.sleep(pollMs, waiting.signal).catch(() => {});
    this.#wake = undefined;
  }

  async #reload(): Promise<void> {
    const { file: { path }, file, check, log } = this.#options;
    let values: FlagValues<Flags>;
    try {
      values = await file.reread();
      check(values);
    } catch (error) {
      return log.error("cannot reload the configuration, keeping the old values", { path, error });
    }
    const before = this.#settings;
    this.#settings = byKey(values.settings);
    const changed = values.settings.filter((setting) => isChanged(setting, before));
    const started = byKey(this.#options.started.settings);
    for (const { flag: { key, isReloadable }, from } of changed.filter((setting) => isChanged(setting, started))) {
      if (isReloadable !== true) log.warn("a changed setting takes effect after a restart", { setting: key, from });
    }
    const reloaded = changed.filter(({ flag }) => flag.isReloadable === true);
    if (reloaded.length === 0) return log.debug("read the configuration, nothing to reload", { path });
    for (const react of this.#reactions) react(values);
    log.info("reloaded the configuration", { path, settings: reloaded.map(({ flag }) => flag.key).join(",") });
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  return (await fileStat(path))?.identity;
}

function byKey(settings: readonly Setting[]): ReadonlyMap<string, Setting> {
  return new Map(settings.map((setting) => [setting.flag.key, setting]));
}

function isChanged({ flag, given }: Setting, before: ReadonlyMap<string, Setting>): boolean {
  return JSON.stringify(given) !== JSON.stringify(before.get(flag.key)?.given);
}
