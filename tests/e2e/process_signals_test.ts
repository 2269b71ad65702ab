/**
 * Signals to the compiled binary, at the stages of its long-running commands and of those that write files: exit codes,
 * what is left behind, and the terminal.
 *
 * The stages are what can be observed from outside: the process exists, a file exists, a line was printed, the server was
 * asked. A signal before the program listens ends it as the system does, with 128 and its number.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { until } from "../controlplane/mod.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";
import { noTerminal, onTerminal } from "./_terminal.ts";

const numbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 } as const;
type Signal = keyof typeof numbers;

/** A gate in the background of a shell ignores some signals, and so would a program until it listens to them. */
const withDefaults = ["env", "--default-signal=HUP,INT,QUIT,TERM"];
const defaults = spawnSync("env", [...withDefaults.slice(1), "true"]).status === 0 ? withDefaults : [];

class Folder implements Disposable {
  readonly path = mkdtempSync("/tmp/pintle-signals-");

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A process of the binary with its own folder for temporary files; it has ended after the test. */
class Subject implements AsyncDisposable {
  readonly #child;
  readonly #program: string;
  readonly #ended: Promise<number>;
  readonly #signals: string[] = [];
  #code: number | undefined;
  output = "";

  constructor(
    args: readonly string[],
    { folder, prefix = [], program = [binaryPath()] }: {
      folder: string;
      prefix?: readonly string[];
      program?: readonly string[];
    },
  ) {
    this.#program = program[0] ?? "";
    const [first = "", ...words] = [...defaults, ...prefix, ...program, ...args];
    this.#child = spawn(first, words, {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: "/nonexistent",
        TMPDIR: folder,
        DENO_DIR: process.env["DENO_DIR"] ?? "",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => this.output += text);
    }
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#code = code ?? 128 + numbers[signal as Signal];
        resolve(this.#code);
      });
    });
  }

  /** Waits for a stage of the program itself; true unless the process has ended before. */
  async reached(what: string, isReached: () => boolean): Promise<boolean> {
    return await until(`see ${what}`, () => {
      if (this.#isProgram() && isReached()) return { kind: "found", value: true };
      return this.#code === undefined
        ? { kind: "pending", state: `it had printed:\n${this.output}` }
        : { kind: "found", value: false };
    });
  }

  /** False while the process is still one of the programs before it, which may ignore a signal as its parent does. */
  #isProgram(): boolean {
    if (!existsSync("/proc/self/cmdline")) return true;
    try {
      return readFileSync(`/proc/${this.#child.pid}/cmdline`, "utf8").startsWith(`${this.#program}\0`);
    } catch {
      return false; // it has ended
    }
  }

  /** It does not use child.kill, whose second call does nothing on Deno. */
  signal(name: Signal | "SIGPIPE"): void {
    if (this.#child.pid === undefined || this.#code !== undefined) return;
    this.#signals.push(name);
    process.kill(this.#child.pid, name);
  }

  async ended(): Promise<number> {
    return await until("see it end", () => {
      if (this.#code !== undefined) return { kind: "found", value: this.#code };
      const state = `${this.#signals.join(", ")} had been sent to it, and it had printed:\n${this.output}`;
      return { kind: "pending", state: `${state}\n${threadsOf(this.#child.pid)}` };
    }, { everyMs: 10 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#ended;
  }
}

/** Which signals a process that does not end handles and has pending, and where its threads wait; empty when it is gone. */
function threadsOf(pid: number | undefined): string {
  try {
    const signals = readFileSync(`/proc/${pid}/status`, "utf8").split("\n").filter((line) =>
      /^(State|S[hi]g)/.test(line)
    );
    const threads = readdirSync(`/proc/${pid}/task`).map((id) => {
      const [name, place] = ["comm", "wchan"].map((file) =>
        readFileSync(`/proc/${pid}/task/${id}/${file}`, "utf8").trim()
      );
      return `${name}: ${place}`;
    });
    return [...signals, ...threads].join("\n");
  } catch {
    return "";
  }
}

const devLine = ["dev", "foo", "--samples"];

/** The stages of `dev`, and whether the program surely listens. */
const devStages = [
  { name: "its start", listens: false, isReached: () => true },
  { name: "its folder", listens: true, isReached: (folder: string) => readdirSync(folder).length > 0 },
  { name: "its kubeconfig", listens: true, isReached: (_: string, output: string) => output.includes("KUBECONFIG=") },
  { name: "a reconcile", listens: true, isReached: (_: string, output: string) => output.includes("synced") },
] as const;

test("[61] a signal ends dev at each stage, and neither a kubeconfig nor a folder is left", async () => {
  for (const { name, listens, isReached } of devStages) {
    for (const [signal, code] of [["SIGHUP", 0], ["SIGINT", 0], ["SIGTERM", 0], ["SIGQUIT", 131]] as const) {
      using folder = new Folder();
      await using dev = new Subject(devLine, { folder: folder.path });
      await dev.reached(name, () => isReached(folder.path, dev.output));
      dev.signal(signal);
      const ended = await dev.ended();
      const isExpected = ended === code || (!listens && ended === 128 + numbers[signal]);
      assert(isExpected, `${signal} at ${name}: ${ended}\n${dev.output}`);
      assertEquals(readdirSync(folder.path), [], `${signal} at ${name}`);
      assert(!/defect|Cannot/.test(dev.output), dev.output);
    }
  }
});

test("[61] a second signal ends dev at once, and SIGPIPE does not end it", async () => {
  using folder = new Folder();
  await using dev = new Subject(devLine, { folder: folder.path });
  await dev.reached("a reconcile", () => dev.output.includes("synced"));
  dev.signal("SIGPIPE");
  dev.signal("SIGTERM");
  dev.signal("SIGHUP");
  const ended = await dev.ended();
  // The first signal may have ended it before the second one came.
  assert(ended === 1 || ended === 0, `${ended}\n${dev.output}`);
  assertEquals(readdirSync(folder.path), []);
});

test("[61] under nohup, a closed terminal does not end dev", async () => {
  using folder = new Folder();
  await using dev = new Subject(devLine, { folder: folder.path, prefix: ["/usr/bin/nohup"] });
  await dev.reached("the kubeconfig", () => dev.output.includes("KUBECONFIG="));
  dev.signal("SIGHUP");
  await dev.reached("a reconcile", () => dev.output.includes("synced"));
  dev.signal("SIGTERM");
  assertEquals(await dev.ended(), 0, dev.output);
  assert(!dev.output.includes("SIGHUP"), dev.output);
});

test("[61] a signal ends commands that wait for a silent server, with the code of the README", async () => {
  let requests = 0;
  await using server = await LoopbackServer.start({ answer: () => void requests++ });
  const lines = [["run", "foo"], ["run", "foo", "--once"], ["install-crds", "foo"], ["uninstall-crds", "foo", "--yes"]];
  for (const line of [...lines, ["doctor"], ["version"]]) {
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"] as const) {
      using folder = new Folder();
      requests = 0;
      await using subject = new Subject([...line, "--server", server.url()], { folder: folder.path });
      await subject.reached("a request", () => requests > 0);
      subject.signal("SIGPIPE");
      subject.signal(signal);
      const isRun = line[0] === "run" && signal !== "SIGQUIT";
      const code = isRun ? line.includes("--once") ? 1 : 0 : 128 + numbers[signal];
      assertEquals(await subject.ended(), code, `${signal} to ${line.join(" ")}\n${subject.output}`);
      assert(!subject.output.includes("defect"), subject.output);
    }
  }
});

test("[61] a signal to new, SIGKILL too, leaves a complete folder or none, and the next new succeeds", async () => {
  // A command of the package, not of the binary.
  const library = join(import.meta.dirname ?? ".", "..", "..");
  const program = [process.execPath, "run", "-A", "--no-check", join(library, "src", "bin.ts")];
  const complete = await filesOfNew(program, library);
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT", "SIGKILL"] as const) {
    for (const stage of ["its start", "the first file", "several files"]) {
      using folder = new Folder();
      const work = join(folder.path, "work");
      mkdirSync(work);
      const site = join(work, "shop");
      const line = ["new", "shop", "--library", library, "--dir", site];
      await using subject = new Subject(line, { folder: folder.path, program });
      const least = { "its start": 0, "the first file": 1, "several files": 4 }[stage] ?? 0;
      const written = () => {
        const [unfinished] = readdirSync(work);
        return unfinished !== undefined && existsSync(join(work, unfinished))
          ? readdirSync(join(work, unfinished)).length
          : 0;
      };
      await subject.reached(stage, () => least === 0 || written() >= least);
      subject.signal(signal);
      const ended = await subject.ended();
      assert([0, 128 + numbers[signal]].includes(ended), `${signal} at ${stage}: ${ended}\n${subject.output}`);
      const isWritten = existsSync(site);
      if (ended === 0) assert(isWritten, `${signal} at ${stage}`);
      if (isWritten) assertEquals(readdirSync(site).sort(), complete, `${signal} at ${stage}`);
      if (signal !== "SIGKILL") assertEquals(readdirSync(work), isWritten ? ["shop"] : [], `${signal} at ${stage}`);
      if (isWritten) continue; // the signal came when the work was done
      await using next = new Subject(line, { folder: folder.path, program });
      assertEquals(await next.ended(), 0, next.output);
    }
  }
});

/** The names of what `new` writes when nothing disturbs it. */
async function filesOfNew(program: readonly string[], library: string): Promise<readonly string[]> {
  using folder = new Folder();
  const site = join(folder.path, "shop");
  const line = ["new", "shop", "--library", library, "--dir", site];
  await using subject = new Subject(line, { folder: folder.path, program });
  assertEquals(await subject.ended(), 0, subject.output);
  return readdirSync(site).sort();
}

const [ctrlC, ctrlBackslash] = ["\u0003", "\u001c"];
const onRealTerminal = noTerminal === undefined ? test : (name: string) => test.skip(name, noTerminal ?? "");

onRealTerminal("[102] the table of dev is removed from the terminal, however dev ends", async () => {
  for (const [text, code] of [[ctrlC, 0], [ctrlBackslash, 131]] as const) {
    using folder = new Folder();
    const ending = await onTerminal(["dev", "foo", "--samples"], {
      env: { TMPDIR: folder.path },
      // The log is quiet then: a terminal drops what it has not shown when Ctrl-C is typed.
      answer: { when: /Successfully synced[\s\S]*end: Ctrl-C/, text },
    });
    assertEquals(ending.code, code, ending.shown);
    const { shown } = ending;
    assert(shown.lastIndexOf("\u001b[J") > shown.lastIndexOf("end: Ctrl-C"), JSON.stringify(shown.slice(-500)));
    // No mode of the terminal is changed, so that nothing has to be restored after SIGKILL.
    // deno-lint-ignore no-control-regex
    assert(!/\u001b\[\?/.test(shown), "a mode of the terminal was changed");
    assertEquals(readdirSync(folder.path), []);
  }
});
