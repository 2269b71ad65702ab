/**
 * simulateOperator(): `controller simulate --command` of an operator's workload, from the sources beside this folder, in a
 * network of its own where the machine allows that: then ports that the operator's source fixes are free.
 */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import type { BuiltOperator } from "./build.ts";
import type { OperatorCase } from "./operator.ts";

const root = join(import.meta.dirname ?? "", "../..");

/** Simulates one workload. @param flags further flags of simulate @returns its exit code */
export async function simulateOperator(
  operator: OperatorCase,
  built: BuiltOperator,
  { workload, flags }: { readonly workload: string; readonly flags: readonly string[] },
): Promise<number> {
  const simulate = [process.execPath, "run", "-A", join(root, "main.ts"), "simulate"];
  const words = [
    ...simulate,
    ...simulateFlags(operator, built),
    "--workload",
    join(operator.folder, workload),
    ...flags,
  ];
  const inNetwork = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  const [path = "", ...args] = hasNetworks() ? [...inNetwork, ...words] : words;
  const child = spawn(path, args, { stdio: "inherit" });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** The flags that describe the operator. */
export function simulateFlags(operator: OperatorCase, { program, crds }: BuiltOperator): readonly string[] {
  const { folder, objects = [], removedVersions = [], application, answers, webhookUrl } = operator;
  const repeated = (name: string, values: readonly string[]) => values.flatMap((value) => [name, value]);
  return [
    ...["--command", commandText(operator, program), "--crds", crds],
    ...repeated("--crds", objects.map((path) => join(folder, path))),
    ...repeated("--serve-removed", removedVersions),
    ...(webhookUrl === undefined ? [] : ["--webhook-url", webhookUrl]),
    ...(answers === undefined ? [] : ["--service", `containers=${join(folder, answers)}`]),
    ...(application === undefined ? [] : [
      "--service",
      `application:${application.port}=${process.execPath} run -A --no-check ${join(folder, application.program)}`,
      ...repeated("--host", application.hosts),
    ]),
  ];
}

/** The text of `--command`. No word of it has a space. */
function commandText({ setup, folder, args = [], env = {} }: OperatorCase, program: string): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const start = ["exec", ...(variables.length === 0 ? [] : ["env", ...variables]), program, ...args].join(" ");
  return setup === undefined ? start : `${setup.replaceAll("{folder}", folder)} && ${start}`;
}

function hasNetworks(): boolean {
  return spawnSync("unshare", ["-rn", "ip", "link", "set", "lo", "up"]).status === 0;
}
