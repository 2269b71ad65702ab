/**
 * What one object of a new kind may become: for each kind of child the fields of the spec that it needs, its desired
 * state, when it is ready and what a test expects of it. All of it is source text, on lines that begin without indent.
 */
import { listOf } from "../output/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** A field of the new kind's spec. */
interface Field {
  readonly name: string;
  /** A zod schema. */
  readonly schema: string;
  /** What the sample has. */
  readonly sample: string | number;
}

/** A kind of child. */
export interface DependentKind {
  readonly kind: string;
  readonly fields: readonly Field[];
  /** What its desired state has besides metadata. `object` is the parent. */
  readonly body: readonly string[];
  /** Whether `live`, the child as the server has it, is ready. @default it is as soon as it is there */
  readonly ready?: (live: string) => string;
  /** Two values that a test compares: one of `live`, one of `sample.spec`. */
  readonly expected: readonly [actual: (live: string) => string, wanted: string];
}

const image: Field = {
  name: "image",
  schema: 'z.string().min(1).default("nginx:1.29").describe("What its containers run.")',
  sample: "nginx:1.29",
};
const replicas: Field = {
  name: "replicas",
  schema: 'z.int32().min(0).max(20).default(1).describe("How many of them run.")',
  sample: 2,
};
const text: Field = {
  name: "text",
  schema: 'z.string().max(100_000).default("Hello").describe("What the ConfigMap says.")',
  sample: "Hello",
};
const port: Field = {
  name: "port",
  schema: 'z.int32().min(1).max(65_535).default(80).describe("Where it is reached.")',
  sample: 80,
};
const schedule: Field = {
  name: "schedule",
  schema: 'z.string().min(1).default("*/5 * * * *").describe("When it runs, as cron has it.")',
  sample: "*/5 * * * *",
};

const template = (containers: string) => [
  "template: {",
  "  metadata: { labels: labelsOf(object) },",
  `  spec: { ${containers} },`,
  "},",
];
const containers = 'containers: [{ name: "main", image: object.spec.image }]';
const readyReplicas = (live: string) => `(${live}.status?.readyReplicas ?? 0)`;

/** Two kinds that run Pods and differ in one field. */
const replicated = (kind: string, ...own: readonly string[]): DependentKind => ({
  kind,
  fields: [image, replicas],
  body: [
    "spec: {",
    ...indented([
      ...own,
      "replicas: object.spec.replicas,",
      "selector: { matchLabels: labelsOf(object) },",
      ...template(containers),
    ]),
    "},",
  ],
  ready: (live) => `${readyReplicas(live)} >= object.spec.replicas`,
  expected: [(live) => `${live}.status?.readyReplicas`, "replicas"],
});

const children: readonly DependentKind[] = [
  {
    kind: "ConfigMap",
    fields: [text],
    body: ["data: { text: object.spec.text },"],
    expected: [(live) => `${live}.data?.["text"]`, "text"],
  },
  {
    kind: "CronJob",
    fields: [schedule, image],
    body: [
      "spec: {",
      "  schedule: object.spec.schedule,",
      "  jobTemplate: {",
      "    spec: {",
      ...indented(template(`restartPolicy: "Never", ${containers}`), 3),
      "    },",
      "  },",
      "},",
    ],
    expected: [(live) => `${live}.spec.schedule`, "schedule"],
  },
  replicated("Deployment"),
  {
    kind: "Service",
    fields: [port],
    body: [
      "spec: {",
      "  selector: labelsOf(object),",
      '  ports: [{ name: "http", port: object.spec.port }],',
      "},",
    ],
    expected: [(live) => `${live}.spec.ports?.[0]?.port`, "port"],
  },
  replicated("StatefulSet", "serviceName: metadataOf(object).name,"),
];

/** The children of these kinds, each once, in the order of their names. @throws UsageError for one that is not known */
export function selectDependentKinds(kinds: readonly string[]): readonly DependentKind[] {
  const known = children.map(({ kind }) => kind);
  for (const kind of kinds) {
    if (known.includes(kind)) continue;
    const similar = known.find((other) => other.toLowerCase() === kind.toLowerCase().replace(/s$/, ""));
    const advice = similar === undefined
      ? "Start with one of them, then change desired.ts"
      : `Did you mean ${similar}?`;
    throw new UsageError(`Cannot write a controller that owns "${kind}": ${listOf(known)}`, advice);
  }
  return children.filter(({ kind }) => kinds.includes(kind));
}

/** The fields that these children need, each once. */
export function fieldsOf(children: readonly DependentKind[]): readonly Field[] {
  return [...new Set(children.flatMap(({ fields }) => fields))];
}

/** Lines further to the right. */
export function indented(lines: readonly string[], steps = 1): readonly string[] {
  return lines.map((line) => `${"  ".repeat(steps)}${line}`);
}

/** The name of the variable that holds one: `configMap`. */
export function variableOf({ kind }: DependentKind): string {
  return `${kind.slice(0, 1).toLowerCase()}${kind.slice(1)}`;
}
