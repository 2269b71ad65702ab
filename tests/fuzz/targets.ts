/** The targets of `deno task fuzz`: their names, and the paths in src whose coverage decides which inputs are kept. */
import type { FuzzTarget } from "./target.ts";

interface TargetEntry {
  readonly covers: readonly string[];
  readonly load: () => Promise<{ readonly target: FuzzTarget }>;
}

const targets = {
  http_server: { covers: ["runtime/http/"], load: () => import("./targets/http_server.ts") },
  http2_server: { covers: ["runtime/http/"], load: () => import("./targets/http2_server.ts") },
  http_client: { covers: ["runtime/http/"], load: () => import("./targets/http_client.ts") },
  watch_lines: {
    covers: ["client/watch_lines", "client/decoder", "api/exact_json"],
    load: () => import("./targets/watch_lines.ts"),
  },
  list_pages: {
    covers: [
      "client/decoder",
      "client/re",
      "api/response_shape",
      "client/response_shape",
      "client/object_requests",
      "api/page_tokens",
      "api/exact_json",
    ],
    load: () => import("./targets/list_pages.ts"),
  },
  yaml: { covers: ["yaml/", "apiserver/http/yaml"], load: () => import("./targets/yaml.ts") },
  kubeconfig: { covers: ["client/kubeconfig/", "yaml/"], load: () => import("./targets/kubeconfig.ts") },
  patches: { covers: ["apiserver/patch/", "webhook/json_patch"], load: () => import("./targets/patches.ts") },
  apply: { covers: ["apiserver/patch/"], load: () => import("./targets/apply.ts") },
  admission_review: { covers: ["webhook/", "schema/"], load: () => import("./targets/admission_review.ts") },
  cel: { covers: ["cel/language/"], load: () => import("./targets/cel.ts") },
  pattern: { covers: ["cel/model/pattern", "schema/_pattern"], load: () => import("./targets/pattern.ts") },
  protobuf: { covers: ["apiserver/protobuf/", "apiserver/kinds/types/"], load: () => import("./targets/protobuf.ts") },
  cli: { covers: ["cli/"], load: () => import("./targets/cli.ts") },
  crd_schemas: { covers: ["apiserver/crd/"], load: () => import("./targets/crd_schemas.ts") },
  api_requests: { covers: ["apiserver/"], load: () => import("./targets/api_requests.ts") },
  selectors: {
    covers: [
      "api/parse_label_selector",
      "api/selector",
      "apiserver/registry/selection",
      "apiserver/registry/label_selector",
    ],
    load: () => import("./targets/selectors.ts"),
  },
} as const satisfies Readonly<Record<string, TargetEntry>>;

/** The name of a target. */
export type TargetName = keyof typeof targets;

/** True for the name of a target. */
export function isTarget(name: string): name is TargetName {
  return Object.hasOwn(targets, name);
}

/** All targets, in the order in which they run. */
export const targetNames: readonly TargetName[] = Object.keys(targets).filter(isTarget);

/** The paths in src that a target measures. */
export function coverOf(name: TargetName): readonly string[] {
  return targets[name].covers;
}

/** Loads a target and the code that it tests. */
export async function loadTarget(name: TargetName): Promise<FuzzTarget> {
  return (await targets[name].load()).target;
}
