import { z } from "zod";
import { assertEquals, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import type { SignalName } from "../../runtime/mod.ts";
import type { FlagValues } from "../command/mod.ts";
import { flag, flagsOf } from "../flags/mod.ts";
import { ConfigReloader } from "./config_reloader.ts";

interface Flags {
  readonly qps: string;
  readonly port: string;
}

const schema = z.object({
  qps: flag(z.string(), { flags: "--qps <count>", about: "requests", isReloadable: true }),
  port: flag(z.string(), { flags: "--port <port>", about: "port" }),
});

function valuesOf(flags: Flags): FlagValues<Flags> {
  const settings = flagsOf(schema).map((one) => ({
    flag: one,
    given: flags[one.key as keyof Flags],
    from: `op.yaml:${one.key}`,
  }));
  const extraFlags = { read: (own: z.ZodObject) => own.parse({}) as never, typed: () => [] };
  return { flags, settings, extraFlags, logging: { verbose: 0, logFormat: undefined } };
}

/** A reloader of a file that the test writes. */
class Rig implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly records: string[] = [];
  readonly taken: Flags[] = [];
  readonly #stop = new AbortController();
  readonly #listeners = new Set<(signal: SignalName) => void>();
  #flags: Flags | Error = { qps: "10", port: "1" };
  #version = "1";
  readonly #running: Promise<void>;
  readonly reloader: ConfigReloader<Flags>;

  constructor() {
    const write = (message: string, fields: Record<string, unknown> = {}) => {
      const { error, setting, settings } = fields;
      const detail = error instanceof Error ? error.message : setting ?? settings;
      this.records.push([message, ...(detail === undefined ? [] : [detail])].join(": "));
    };
    this.reloader = new ConfigReloader<Flags>({
      file: { path: "op.yaml", reread: () => this.#read() },
      started: valuesOf({ qps: "10", port: "1" }),
      check: ({ flags }) => {
        if (flags.qps === "0") throw new Error("qps is 0");
      },
      clock: this.clock,
      log: { debug: () => {}, info: write, warn: write, error: write, with: () => this.#fail() },
      signals: ["SIGHUP"],
      onSignal: (_signals, react) => {
        this.#listeners.add(react);
        return { [Symbol.dispose]: () => void this.#listeners.delete(react) };
      },
      identify: () => Promise.resolve(this.#version),
    });
    this.reloader.onReload(({ flags }) => void this.taken.push(flags));
    this.#running = this.reloader.run(this.#stop.signal);
  }

  /** @param isNoticed false when the facts of the file stay the same */
  write(flags: Flags | Error, isNoticed = true): void {
    this.#flags = flags;
    if (isNoticed) this.#version += "1";
  }

  hangUp(): void {
    for (const react of this.#listeners) react("SIGHUP");
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.reloader[Symbol.dispose]();
  }

  #read(): Promise<FlagValues<Flags>> {
    return this.#flags instanceof Error ? Promise.reject(this.#flags) : Promise.resolve(valuesOf(this.#flags));
  }

  #fail(): never {
    throw new TypeError("no logger is derived");
  }
}

test("a changed file is taken over with the next poll, and an unchanged one is not read into anything", async () => {
  await using rig = new Rig();
  await rig.clock.advance(30_000);
  assertEquals([rig.taken, rig.records], [[], []]);
  rig.write({ qps: "20", port: "1" });
  await rig.clock.advance(9_999);
  assertEquals(rig.taken, []);
  await rig.clock.advance(1);
  assertEquals(rig.taken, [{ qps: "20", port: "1" }]);
  assertEquals(rig.records, ["reloaded the configuration: qps"]);
});

test("SIGHUP reads the file at once, also when nothing shows that it has changed", async () => {
  await using rig = new Rig();
  await rig.clock.advance(10_000);
  rig.write({ qps: "20", port: "1" }, false);
  rig.hangUp();
  await rig.clock.advance(0);
  assertEquals(rig.taken.length, 1);
});

test("an invalid file leaves the old values, and a correct one is taken over later", async () => {
  await using rig = new Rig();
  rig.write(new Error("op.yaml:3 is wrong"));
  await rig.clock.advance(20_000);
  rig.write({ qps: "0", port: "1" });
  await rig.clock.advance(10_000);
  assertEquals(rig.taken, []);
  const message = "cannot reload the configuration, keeping the old values";
  assertEquals(rig.records, [`${message}: op.yaml:3 is wrong`, `${message}: qps is 0`]);
  rig.write({ qps: "30", port: "1" });
  await rig.clock.advance(10_000);
  assertEquals(rig.taken, [{ qps: "30", port: "1" }]);
});

test("a change that needs a restart is logged once, and not when it is taken back", async () => {
  await using rig = new Rig();
  rig.write({ qps: "10", port: "2" });
  await rig.clock.advance(10_000);
  rig.write({ qps: "20", port: "2" });
  await rig.clock.advance(10_000);
  rig.write({ qps: "20", port: "1" });
  await rig.clock.advance(10_000);
  assertEquals(rig.records, [
    "a changed setting takes effect after a restart: port",
    "reloaded the configuration: qps",
  ]);
  assertEquals(rig.taken.map(({ qps }) => qps), ["20"]);
});

test("a disposed reloader listens to no signals", async () => {
  const rig = new Rig();
  assertEquals(rig.listeners, 1);
  await rig[Symbol.asyncDispose]();
  assertEquals(rig.listeners, 0);
});
