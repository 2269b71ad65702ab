/**
 * apiserver: the embedded API server behind its TLS listener, as `dev` starts it, with the Foo CRD; `--workloads` adds
 * the simulated cluster of `dev`. The kubeconfig is written to the given file.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { EmbeddedCluster } from "../../src/cluster/mod.ts";
import { createFooKind } from "./_foo_kind.ts";
import { inputEnded, report } from "./_stdio.ts";

/** Serves and reports, and continues until stdin ends. */
export async function apiserver(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { kubeconfig: { type: "string", default: "" }, workloads: { type: "boolean", default: false } },
  });
  await using cluster = await EmbeddedCluster.start({ workloads: values.workloads, onError: console.error });
  await createFooKind(cluster.transport);
  writeFileSync(values.kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  report({ kind: "serving" });
  await inputEnded();
}
