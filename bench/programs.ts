/**
 * The programs that are measured. Those that a run needs are built in release form before anything is timed. Our own
 * side is compiled by Bun with the flags of compile.sh.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { classPath } from "../tests/clients/packaged.ts";
import { buildJavaPeer, buildPythonPeer } from "./packaged_peers.ts";

const benchDir = import.meta.dirname ?? ".";
const root = join(benchDir, "..");
const outputDir = join(root, "dist", "bench");
const rustDir = join(benchDir, "peers", "rust");
/** A link to the classes that Maven compiled. */
const javaDir = join(outputDir, "java");
/** Links to the packages and to the interpreter. */
const pythonDir = join(outputDir, "python");
const bun = join(root, "tasks", "bun.sh");
/** As in compile.sh. */
const compileFlags = ["--bytecode", "--minify", "--format=esm", "--splitting"] as const;

/** How a program is built and started; a subcommand follows the command. */
interface Program {
  readonly build?: BuildCommand | BuildFunction;
  readonly command: readonly string[];
}

interface BuildCommand {
  readonly cwd: string;
  readonly command: readonly string[];
}

/** Builds into a cache that other checkouts share. */
type BuildFunction = () => Promise<void>;

const programs = {
  /** Pintle: a small operator on src/mod.ts. */
  pintle: compiledByBun("pintle", "main.ts"),
  /** The released binary. */
  controller: {
    build: { cwd: root, command: ["sh", "compile.sh", "--outfile", join(outputDir, "controller")] },
    command: [join(outputDir, "controller")],
  },
  /** A program of one line on our runtime. */
  empty: compiledByBun("empty", "empty.ts"),
  /** An operator with a conversion webhook. */
  converter: {
    build: {
      cwd: root,
      command: [
        ...["sh", "compile.sh", "--entry", join(benchDir, "ours", "converter.ts")],
        ...["--outfile", join(outputDir, "converter")],
      ],
    },
    command: [join(outputDir, "converter")],
  },
  /** controller-runtime and client-go, and the load generators. */
  go: {
    build: {
      cwd: join(benchDir, "peers", "go"),
      command: ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", join(outputDir, "peer-go"), "."],
    },
    command: [join(outputDir, "peer-go")],
  },
  /** kube-rs. */
  rust: {
    build: { cwd: rustDir, command: ["cargo", "build", "--release", "--quiet"] },
    command: [join(rustDir, "target", "release", "peer-kube-rs")],
  },
  /** The Java Operator SDK, with the JVM's own defaults. */
  java: { build: () => buildJavaPeer(javaDir), command: javaCommand() },
  /** The same with the flags of small containers. */
  javaSmall: { build: () => buildJavaPeer(javaDir), command: javaCommand("-Xmx512m", "-XX:+UseSerialGC") },
  /** kopf, without writing compiled files beside its sources. */
  python: {
    build: () => buildPythonPeer(pythonDir),
    command: [
      ...["env", `PYTHONPATH=${join(pythonDir, "packages")}`, join(pythonDir, "python3"), "-B"],
      join(benchDir, "peers", "python", "main.py"),
    ],
  },
  /** The packed packages; a case installs them. */
  packages: {
    build: { cwd: root, command: [process.execPath, "run", "-A", join(root, "tasks", "pack.ts")] },
    command: [],
  },
  /** client-node's informer; it cannot run on Bun, where it ignores the kubeconfig's CA. */
  node: {
    command: [process.execPath, "run", "--allow-all", "--no-check", join(benchDir, "peers", "node", "informer.ts")],
  },
} as const satisfies Record<string, Program>;

/** A program whose main module is in the folder of our own side. */
function compiledByBun(name: string, entry: string) {
  const outfile = join(outputDir, name);
  const command = [bun, "build", "--compile", ...compileFlags, `--outfile=${outfile}`, join(benchDir, "ours", entry)];
  return { build: { cwd: root, command }, command: [outfile] };
}

/** The client of Java takes a key for RSA if it is not told otherwise; those of a bench cluster are for EC. */
function javaCommand(...flags: readonly string[]): readonly string[] {
  return ["java", ...flags, "-Dkubernetes.certs.client.key.algo=EC", "-cp", classPath(javaDir), "bench.Main"];
}

/** The name of a program. */
export type ProgramName = keyof typeof programs;

/**
 * The command that starts a program with a subcommand.
 *
 * @param checkout Another checkout of this repository whose own program is meant, built there by its own benchmark.
 */
export function commandOf(name: ProgramName, args: readonly string[], checkout?: string): readonly string[] {
  const command: readonly string[] = programs[name].command;
  return [...(checkout === undefined ? command : command.map((path) => join(checkout, relative(root, path)))), ...args];
}

/**
 * Builds programs at the lowest priority, one after the other.
 *
 * @throws Error with the builder's output when a build fails.
 */
export async function buildPrograms(names: Iterable<ProgramName>): Promise<void> {
  mkdirSync(outputDir, { recursive: true });
  for (const name of names) {
    const program: Program = programs[name];
    if (program.build === undefined) continue;
    if (typeof program.build === "function") {
      process.stderr.write(`bench: building ${name}\n`);
      await program.build();
      continue;
    }
    const { cwd, command } = program.build;
    process.stderr.write(`bench: building ${name}: ${command.join(" ")}\n`);
    const env = { ...process.env, GOWORK: "off" };
    await promisify(execFile)("nice", ["-n", "15", ...command], { cwd, env, maxBuffer: 64 << 20 });
  }
}
