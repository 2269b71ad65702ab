/**
 * Writes src/apiserver/access/generated/bootstrap_rbac_data.ts: the roles and bindings that a kube-apiserver creates when it
 * starts. Run it with a real control plane: `deno task cluster -- deno run -A tasks/bootstrap_rbac.ts`.
 */
import { execFileSync } from "node:child_process";

const kinds = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Item {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [key: string]: unknown;
}

function itemsOf(kind: string): readonly Item[] {
  const text = execFileSync("kubectl", ["get", kind, "-A", "-o", "json"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(text).items;
}

/** The object without the fields that a server adds. */
function bare({ metadata, ...rest }: Item): Item {
  const { name, namespace, labels, annotations } = metadata;
  return { ...rest, metadata: { name, namespace, labels, annotations } } as Item;
}

const items = kinds.flatMap(itemsOf).filter(({ metadata }) =>
  metadata.labels?.["kubernetes.io/bootstrapping"] === "rbac-defaults"
);
const text = JSON.stringify(items.map(bare));
const file = new URL("../src/apiserver/access/generated/bootstrap_rbac_data.ts", import.meta.url);
Deno.writeTextFileSync(
  file,
  `/** Made by tasks/bootstrap_rbac.ts from kube-apiserver 1.36.3: its default roles and bindings, as JSON text. */
export const bootstrapRbacText =
  ${JSON.stringify(text)};
`,
);
console.log(`${items.length} objects, ${text.length} bytes`);
