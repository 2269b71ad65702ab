/**
 * Checks the public surface as a registry for TypeScript packages does: each public symbol has a docstring and refers to
 * public types only (`deno doc --lint`), and its types can be read without inference (`deno publish --dry-run`, "slow
 * types").
 *
 * Two sorts of findings do not count: those about the types of zod, which `z` exports again, and missing docstrings of
 * generated types. Kubernetes' own descriptions of fields are not copied, and others would only repeat the names.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { root } from "./_root.ts";

/** One finding: `error[code]: message`, then where it is. */
interface Finding {
  readonly text: string;
  readonly place: string;
}

/** Reads the findings from what Deno prints. */
export function findingsIn(output: string): readonly Finding[] {
  return output.split(/^(?=error\[)/m).filter((block) => block.startsWith("error["))
    .map((block) => ({
      text: block.split("\n")[0] ?? "",
      place: /--> (\S+)/.exec(block)?.[1] ?? "",
    }));
}

/** True for a finding that does not count. */
export function isAccepted({ text, place }: Finding): boolean {
  const isPrivateType = text.startsWith("error[private-type-ref]");
  // The entry /kinds exports all generated types, in namespaces, where the linter finds neither them nor their docstrings.
  const isGenerated = /^error\[(missing-jsdoc|private-type-ref)\]/.test(text) &&
    /\/src\/(api\/(generated\/|mod\.ts:)|schema\/embedded_schemas\.ts:)/.test(place);
  const isZod = isPrivateType && /references private type '(\$?Zod\w+|output|input|core)'/.test(text);
  // The parts of a computed type say nothing to users.
  const isComputed = isPrivateType && place.includes("/src/schema/checked_rules.ts:");
  return place.includes("node_modules") || isZod || isGenerated || isComputed;
}

function run(args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1" },
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  return { status, output: `${stdout}\n${stderr}` };
}

function main(): number {
  const lint = run(["doc", "--lint", ...Object.values(config.exports)]);
  const ours = findingsIn(lint.output).filter((finding) => !isAccepted(finding));
  for (const { text, place } of ours) console.error(`${text}\n  ${place}`);
  const publish = run(["publish", "--dry-run", "--allow-dirty", "--quiet"]);
  if (publish.status !== 0) console.error(publish.output);
  if (ours.length === 0 && publish.status === 0) return 0;
  console.error(`Cannot accept the public surface: ${ours.length} findings of deno doc --lint, see above`);
  return 1;
}

if (import.meta.main) process.exitCode = main();
