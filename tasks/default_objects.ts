/**
 * Writes the objects that a kube-apiserver creates when it starts: src/apiserver/access/generated/bootstrap_rbac_data.ts, its
 * roles and bindings, and src/apiserver/bootstrap/generated/default_objects_data.ts, its APIServices and the configuration of
 * its flow control. Run it with a new control plane: `deno task cluster -- deno run -A tasks/default_objects.ts`.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./_root.ts";

interface Item {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly generation?: number;
  };
  readonly [key: string]: unknown;
}

function itemsOf(kind: string): readonly Item[] {
  const text = execFileSync("kubectl", ["get", kind, "-A", "-o", "json"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(text).items;
}

/** The object without the fields that a server adds, and without times. */
function bare({ metadata, status, ...rest }: Item): object {
  const { name, namespace, labels, annotations, generation } = metadata;
  const kept = { ...rest, metadata: { name, namespace, labels, annotations, generation } };
  return status === undefined ? kept : { ...kept, status: withoutTimes(status) };
}

function withoutTimes(status: unknown): unknown {
  return JSON.parse(JSON.stringify(status, (key, value) => key === "lastTransitionTime" ? undefined : value));
}

/** @param what the objects are, for the comment */
function write(path: string, name: string, what: string, items: readonly Item[]): void {
  const text = JSON.stringify(items.map(bare));
  const comment = `/** Made by tasks/default_objects.ts from kube-apiserver 1.36.3: ${what}, as JSON text. */`;
  writeFileSync(join(root, path), `${comment}\nexport const ${name} =\n  ${JSON.stringify(text)};\n`);
  console.log(`${path}: ${items.length} objects, ${text.length} bytes`);
}

write(
  "src/apiserver/access/generated/bootstrap_rbac_data.ts",
  "bootstrapRbacText",
  "its default roles and bindings",
  ["clusterroles", "clusterrolebindings", "roles", "rolebindings"].flatMap(itemsOf).filter(({ metadata }) =>
    metadata.labels?.["kubernetes.io/bootstrapping"] === "rbac-defaults"
  ),
);
write(
  "src/apiserver/bootstrap/generated/default_objects_data.ts",
  "defaultObjectsText",
  "its APIServices, FlowSchemas and PriorityLevelConfigurations",
  [
    ...itemsOf("apiservices").filter(({ metadata }) =>
      metadata.labels?.["kube-aggregator.kubernetes.io/automanaged"] === "onstart"
    ),
    ...["prioritylevelconfigurations", "flowschemas"].flatMap(itemsOf),
  ],
);
