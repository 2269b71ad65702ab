/** From exec of the released binary, with `dev` only, to the first response of its API server. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { freePort } from "../free_port.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { servedLine } from "../protocol.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** Starts of one run: a single start is so short that other load on the machine would decide the result. */
const starts = 5;

/** Starts an embedded cluster. */
export const apiserverStartCase: Case = {
  name: "apiserver-start",
  title: () => `\`controller dev\`, from exec to the first answer, ${starts} times a run`,
  subjects: [{ name: ours, program: "controller", args: ["dev", "--quiet"] }],
  run: runStarts,
};

async function runStarts(setting: Setting): Promise<Outcome> {
  const runs = setting.runs * starts;
  return { samples: await interleaved({ ...setting, runs }, measureStart), facts: {} };
}

async function measureStart(subject: Subject): Promise<Sample["values"]> {
  const port = await freePort();
  const server = commandOf(subject.program, [...subject.args, `--port=${port}`], subject.checkout);
  const [command = "", ...args] = commandOf("go", ["served", `--address=127.0.0.1:${port}`, ...server]);
  const { stdout } = await promisify(execFile)(command, args);
  const { ms, cpuMs } = servedLine.parse(JSON.parse(stdout));
  return { servedMs: ms, servedCpuMs: cpuMs };
}
