/**
 * external-secrets. Its build has the libraries of all cloud providers (minutes of CPU, and 2 GiB for the largest package); the
 * sample needs none of them: its store has the values itself.
 */
import type { OperatorCase } from "../operator.ts";

/** The one version. */
export const externalSecrets: readonly OperatorCase[] = [{
  name: "external-secrets-0.10.7",
  folder: import.meta.dirname ?? "",
  source: {
    module: "github.com/external-secrets/external-secrets",
    version: "v0.10.7",
    package: ".",
    crds: ["config/crds/bases"],
  },
  args: ["--metrics-addr=127.0.0.1:{port}", "--enable-leader-election=true"],
  workloads: ["rotate.yaml"],
}];
