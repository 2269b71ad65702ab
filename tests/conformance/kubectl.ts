/** kubectlOf(): runs kubectl with one kubeconfig and an empty cache. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { run } from "../controlplane/run.ts";
import type { RunKubectl } from "./case_run.ts";

/** @param program path of kubectl */
export function kubectlOf(program: string, kubeconfig: string): RunKubectl {
  return async (args, { stdin, env = {} }) => {
    const cache = join(tmpdir(), `pintle-kubectl-${randomUUID()}`);
    const variables = { KUBECONFIG: kubeconfig, KUBECACHEDIR: cache, KUBERC: "off", TZ: "UTC", ...env };
    const result = await run(program, args, { env: variables, ...(stdin === undefined ? {} : { stdin }) });
    rmSync(cache, { recursive: true, force: true });
    if (result.kind === "missing") throw new Error(`Cannot run kubectl: there is no "${program}"`);
    return result;
  };
}
