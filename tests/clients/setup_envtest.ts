/** setup-envtest, with which projects of kubebuilder find and download their servers. setup-envtest/go.mod pins it. */
import { join } from "node:path";
import { buildGoPrograms } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";

const folder = join(import.meta.dirname ?? ".", "setup-envtest");

/** The program. */
export interface SetupEnvtest {
  readonly kind: "ready";
  readonly path: string;
  /** @returns its stdout @throws Error when it fails */
  run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string>;
}

/** The program, or why there is none here. */
export async function setupEnvtest(): Promise<
  SetupEnvtest | { readonly kind: "unavailable"; readonly reason: string }
> {
  const built = await buildGoPrograms({
    name: "setup-envtest",
    moduleDir: folder,
    programs: { "setup-envtest": "sigs.k8s.io/controller-runtime/tools/setup-envtest" },
  });
  if (built.kind === "unavailable") return built;
  const path = join(built.dir, "setup-envtest");
  return {
    kind: "ready",
    path,
    run: async (args, env) => {
      const ended = await run(path, args, { env });
      if (ended.kind === "ended" && ended.code === 0) return ended.stdout.trim();
      throw new Error(
        `Cannot run setup-envtest ${args.join(" ")}: ${ended.kind === "ended" ? ended.stderr : "missing"}`,
      );
    },
  };
}
