/**
 * A machine for kind: namespaces and cgroups of its own, Debian packages as its root file system, and a dockerd. It has no
 * way out of its network. Programs of this machine use it through {@link Machine.command}: they run in its network, with its
 * Docker, and on this machine's files, as a developer's do.
 *
 * Guarantees: nothing outside its temporary folder and its cgroups is changed. Both, and every process in them, are gone
 * when the machine is disposed, and soon after this process has ended for any other reason, SIGKILL included
 * (scripts/supervise.sh).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { run, type RunResult } from "../controlplane/run.ts";
import { clusterConfig } from "./cluster_config.ts";
import { type DebianFolders, debianFolders } from "./debian.ts";
import { type NodeImage, nodeImage, registryAddress } from "./node_image.ts";
import { type KindPrograms, kindPrograms } from "./programs.ts";
import { whyNoKind } from "./support.ts";

/** All that a machine is made of, from the cache. */
export interface MachineParts {
  readonly programs: KindPrograms;
  readonly debian: DebianFolders;
  readonly image: NodeImage;
}

/** The parts, or why there can be no machine here. */
export type MachinePartsOutcome =
  | { readonly kind: "ready"; readonly parts: MachineParts }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Options of a command. */
export interface CommandOptions {
  readonly cwd?: string;
  readonly stdin?: string;
  /** Runs it in the network of this machine, so that it can download. @default false */
  readonly isOutside?: boolean;
}

/** How a command has ended. */
export type Ended = Extract<RunResult, { kind: "ended" }>;

/** The folder of a machine begins with it, and so do the names of its cgroups. */
export const machinePrefix = "pintle-kind-";

const scripts = join(import.meta.dirname ?? ".", "scripts");
const registryProgram = join(import.meta.dirname ?? ".", "..", "realnode", "registry.ts");
const startTimeoutMs = 300_000;
const pollMs = 100;

/** The parts, built first if they are not in the cache (minutes, with progress on stderr). */
export async function machineParts(): Promise<MachinePartsOutcome> {
  const reason = await whyNoKind();
  if (reason !== undefined) return { kind: "unavailable", reason };
  const built = await kindPrograms();
  if (built.kind === "unavailable") return built;
  const { programs } = built;
  const debian = await debianFolders();
  return { kind: "ready", parts: { programs, debian, image: await nodeImage(programs, debian) } };
}

/** A machine that runs. */
export class Machine implements AsyncDisposable {
  /** Everything it has on disk; removed with it. */
  readonly dir: string;
  readonly #parts: MachineParts;
  readonly #supervisor: ChildProcess | undefined;

  private constructor(dir: string, parts: MachineParts, supervisor: ChildProcess | undefined) {
    this.dir = dir;
    this.#parts = parts;
    this.#supervisor = supervisor;
  }

  /**
   * Starts a machine, and waits until its Docker answers.
   *
   * @throws Error with the logs when it does not start.
   */
  static async start(parts: MachineParts): Promise<Machine> {
    const dir = mkdtempSync(join(tmpdir(), machinePrefix));
    const { debian, image } = parts;
    for (const name of ["log", "upper", "work", "root", "shared", "docker", "home", "bin"]) mkdirSync(join(dir, name));
    const layers = `${debian.docker}:${debian.base}`;
    const supervisor = spawn(join(scripts, "supervise.sh"), [dir, scripts, layers, image.images], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    const machine = new Machine(dir, parts, supervisor);
    try {
      machine.#addPrograms();
      await machine.#dockerAnswers();
      return machine;
    } catch (error) {
      await machine[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A machine that another process has started, and ends. */
  static attach(dir: string, parts: MachineParts): Machine {
    return new Machine(dir, parts, undefined);
  }

  /** The environment of a user of the machine: a home folder without a kubeconfig, the machine's Docker, and kind. */
  get environment(): Readonly<Record<string, string>> {
    return {
      HOME: join(this.dir, "home"),
      DOCKER_HOST: `unix://${join(this.dir, "shared", "docker.sock")}`,
      PATH: `${join(this.dir, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
      KUBECONFIG: "",
      KUBECACHEDIR: join(this.dir, "home", ".kube", "cache"),
      KUBERC: "off",
      // What is downloaded is kept where it is kept otherwise.
      XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"),
      DENO_DIR: process.env["DENO_DIR"] ?? join(homedir(), ".cache", "deno"),
      NO_COLOR: "1",
    };
  }

  /** A command as a user of the machine runs it; it ends with the machine at the latest. */
  command(command: readonly string[]): readonly [string, ...string[]] {
    return this.outsideCommand(["nsenter", `--net=/proc/${this.#firstProcess()}/ns/net`, ...command]);
  }

  /** A command in the network of this machine, so that it can download; it, too, ends with the machine at the latest. */
  outsideCommand(command: readonly string[]): readonly [string, ...string[]] {
    return [join(scripts, "enter.sh"), this.dir, ...command];
  }

  /** Runs such a command to its end; the caller checks the exit code. */
  async run(command: readonly string[], options: CommandOptions = {}): Promise<Ended> {
    const { isOutside = false, ...rest } = options;
    const [program, ...args] = isOutside ? this.outsideCommand(command) : this.command(command);
    const result = await run(program, args, { env: this.environment, ...rest });
    if (result.kind === "missing") throw new Error(`Cannot run ${program}: it is missing`);
    return result;
  }

  /** Runs such a command and returns what it printed. @throws Error with its stderr when it fails */
  async output(command: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(command);
    if (code !== 0) throw new Error(`Cannot run ${command.join(" ")}: exit code ${code}\n${stderr.trim()}`);
    return stdout;
  }

  /** Gives Docker the image of kind's nodes, and the nodes a registry with a stand-in for nginx. */
  async prepareForClusters(): Promise<void> {
    const { name, rootfs, changes, registry } = this.#parts.image;
    const options = changes.flatMap((change) => ["--change", change]);
    await this.output(["docker", "import", ...options, rootfs, name]);
    const { host, port } = registryAddress;
    const [program, ...args] = this.command([
      process.execPath,
      "run",
      "-A",
      registryProgram,
      registry,
      host,
      `${port}`,
    ]);
    const log = openSync(join(this.dir, "log", "registry.log"), "a");
    spawn(program, args, { stdio: ["ignore", log, log], env: { ...process.env, ...this.environment } }).unref();
    closeSync(log);
  }

  /** The last lines that dockerd and the scripts have written. */
  logs(): string {
    const tail = (name: string) => {
      const path = join(this.dir, name);
      return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").slice(-20).join("\n") : "";
    };
    return `${tail("log/machine.log")}\n${tail("shared/dockerd.log")}`.trim();
  }

  /** Ends every process of the machine and removes its folder. An attached machine is left as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#supervisor === undefined || this.#supervisor.exitCode !== null) return;
    const exited = once(this.#supervisor, "exit");
    this.#supervisor.stdin?.end();
    await exited;
  }

  /** docker and kubectl; and kind, which gets the configuration that this machine needs. */
  #addPrograms(): void {
    const { programs, debian, image } = this.#parts;
    const bin = join(this.dir, "bin");
    symlinkSync(join(debian.docker, "usr/bin/docker"), join(bin, "docker"));
    symlinkSync(join(programs.controlPlane, "kubectl"), join(bin, "kubectl"));
    const config = join(this.dir, "kind.yaml");
    writeFileSync(config, clusterConfig(image.name));
    const [kind, isCreate] = [join(programs.kind, "kind"), '[ "${1-} ${2-}" = "create cluster" ]'];
    const script = `#!/bin/sh\n${isCreate} && set -- "$@" --config '${config}'\nexec '${kind}' "$@"\n`;
    writeFileSync(join(bin, "kind"), script);
    chmodSync(join(bin, "kind"), 0o755);
  }

  async #dockerAnswers(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    const isReady = async () =>
      existsSync(join(this.dir, "unshare.pid")) && this.#hasFirstProcess() &&
      (await this.run(["docker", "version"])).code === 0;
    while (!await isReady()) {
      if (this.#supervisor?.exitCode !== null) {
        throw new Error(`Cannot start a machine for kind: it ended at once\n${this.logs()}`);
      }
      if (Date.now() > deadline) throw new Error(`Cannot start a machine for kind:\n${this.logs()}`);
      await sleep(pollMs);
    }
  }

  #hasFirstProcess(): boolean {
    return this.#firstProcess() !== "";
  }

  /** The id that the machine's process 1 has here. */
  #firstProcess(): string {
    const unshare = readFileSync(join(this.dir, "unshare.pid"), "utf8").trim();
    const children = `/proc/${unshare}/task/${unshare}/children`;
    return existsSync(children) ? readFileSync(children, "utf8").trim() : "";
  }
}
