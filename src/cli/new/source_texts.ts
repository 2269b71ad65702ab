/**
 * The sources that `new` writes: kind, desired state, controller and program. Each is text that `deno fmt` leaves as it is,
 * whatever the names: what may become long stands on a line of its own.
 */
import { type Child, fieldsOf, indented, variableOf } from "./children.ts";
import type { Names } from "./names.ts";

/** What is written about. */
export interface Subject {
  readonly names: Names;
  readonly children: readonly Child[];
}

/** resource.ts */
export function resourceText({ names, children }: Subject): string {
  const { kind, group } = names;
  const fields = fieldsOf(children).map(({ name, schema }) => `${name}: ${schema},`);
  return text(
    `/** ${kind}: what somebody asks for. The schema is the type, the CRD and the validation. */`,
    'import { defineResource, type Infer, z } from "@pintle/controller";',
    "",
    `export const ${kind} = defineResource({`,
    `  group: "${group}",`,
    '  version: "v1alpha1",',
    `  kind: "${kind}",`,
    '  scope: "Namespaced",',
    `  description: "${sentence(names)}",`,
    "  spec: z.object({",
    ...indented(fields, 2),
    "  }),",
    "  status: z.object({",
    '    ready: z.boolean().default(false).describe("Whether all of it is there and works."),',
    "  }),",
    "  validations: [{",
    '    rule: "self.metadata.name.size() <= 52",',
    '    message: "names of at most 52 characters leave room for those of what it becomes",',
    "  }],",
    "  printerColumns: [",
    '    { name: "Ready", jsonPath: ".status.ready" },',
    '    { name: "Age", jsonPath: ".metadata.creationTimestamp" },',
    "  ],",
    "});",
    `export type ${kind} = Infer<typeof ${kind}>;`,
  );
}

function sentence({ kind }: Names): string {
  return `${/^[AEIOU]/.test(kind) ? "An" : "A"} ${kind} is looked after by its controller.`;
}

/** desired.ts */
export function desiredText({ names, children }: Subject): string {
  const { kind, group, singular } = names;
  const needsLabels = children.some(({ body }) => body.join().includes("labelsOf"));
  return text(
    `/** What one ${kind} means. Pure functions: this is where it is decided, and nowhere else. */`,
    `import { ${sorted([...kindsOf(children), "manifest"])} } from "@pintle/controller";`,
    `import type { ${kind} } from "./resource.ts";`,
    "",
    ...children.flatMap((child) => desiredLines(child, kind)),
    `function metadataOf(object: ${kind}) {`,
    needsLabels
      ? "  return { name: nameOf(object), namespace: object.metadata.namespace, labels: labelsOf(object) };"
      : "  return { name: nameOf(object), namespace: object.metadata.namespace };",
    "}",
    "",
    ...(needsLabels
      ? [
        `function labelsOf(object: ${kind}): Readonly<Record<string, string>> {`,
        "  return {",
        `    "${group}/${singular}": nameOf(object),`,
        "  };",
        "}",
        "",
      ]
      : []),
    `function nameOf(object: ${kind}): string {`,
    '  return object.metadata.name ?? "";',
    "}",
  );
}

function desiredLines(child: Child, kind: string): readonly string[] {
  return [
    `export function desired${child.kind}(object: ${kind}) {`,
    `  return manifest(${child.kind}, {`,
    "    metadata: metadataOf(object),",
    ...indented(child.body, 2),
    "  });",
    "}",
    "",
  ];
}

/** controller.ts */
export function controllerText({ names, children }: Subject): string {
  const { kind, constant, controller } = names;
  const checks = children.flatMap((child) => child.ready?.(variableOf(child)) ?? []);
  return text(
    `/** ${controller}: keeps what each ${kind} means, and says whether it is ready. */`,
    `import { ${sorted([...kindsOf(children), "controller", "done"])} } from "@pintle/controller";`,
    `import { ${children.map((child) => `desired${child.kind}`).join(", ")} } from "./desired.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    "",
    `export const ${constant} = controller("${controller}")`,
    `  .for(${kind})`,
    ...children.map((child) => `  .owns(${child.kind})`),
    "  .reconcile(async (ctx) => {",
    "    const object = ctx.object; // readonly, from the cache; never older than what this controller wrote",
    ...indented(children.map(applyLine), 2),
    `    const ready = ${checks.length === 0 ? "true" : checks.join(" &&\n      ")};`,
    "    await ctx.patchStatus({ ready });",
    "    return done; // or requeueAfter(60_000)",
    "  });",
  );
}

/** What is wanted is said each time; only what differs is sent. */
function applyLine(child: Child): string {
  const apply = `await ctx.apply(desired${child.kind}(object));`;
  return child.ready === undefined ? apply : `const ${variableOf(child)} = ${apply}`;
}

/** main.ts */
export function mainText({ names: { constant, controller } }: Subject): string {
  return text(
    "/** The whole program: run, dev, install-crds, manifests, doctor and more, out of a list of controllers. */",
    'import process from "node:process";',
    'import { operatorCli, withSamples } from "@pintle/controller";',
    `import { ${constant} } from "./controller.ts";`,
    'import sample from "./sample.json" with { type: "json" };',
    "",
    "process.exit(",
    "  await operatorCli({",
    `    name: "${controller}",`,
    "    controllers: [",
    `      withSamples(${constant}, [sample]),`,
    "    ],",
    "  }),",
    ");",
  );
}

/** Lines as a file. */
export function text(...lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

/** Names in an import, in the order of `deno fmt`. */
export function sorted(names: readonly string[]): string {
  const byLetters = (a: string, b: string) => a.toLowerCase() < b.toLowerCase() ? -1 : 1;
  return names.toSorted(byLetters).join(", ");
}

/** The kinds of some children. */
export function kindsOf(children: readonly Child[]): readonly string[] {
  return children.map(({ kind }) => kind);
}
