/**
 * The kinds that a new controller can own. For each: the fields that it adds to the spec, its desired state, when it is
 * ready, and what a test expects. All of these are source text; lines start without indentation.
 */
import { listOf } from "../output/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** A field of the new kind's spec. */
interface Field {
  readonly name: string;
  /** A zod schema. */
  readonly schema: string;
  /** The value in the sample. */
  readonly sample: string | number;
}

/** A kind that a new controller can own. */
export interface DependentKind {
  readonly kind: string;
  readonly fields: readonly Field[];
  /** The desired state without metadata. `object` is the owner. */
  readonly body: readonly string[];
  /** An expression for whether `live`, the object on the server, is ready. @default it is ready when it exists */
  readonly ready?: (live: string) => string;
  /** Two values that a test compares: one of `live`, one of `sample.spec`. */
  readonly expected: readonly [actual: (live: string) => string, field: string];
}

const image: Field = {
  name: "image",
  schema: 'z.string().min(1).default("nginx:1.29").describe("The image of the containers.")',
  sample: "nginx:1.29",
};
const replicas: Field = {
  name: "replicas",
  schema: 'z.int32().min(0).max(20).default(1).describe("The number of Pods.")',
  sample: 2,
};
const text: Field = {
  name: "text",
  schema: 'z.string().max(100_000).default("Hello").describe("The text in the ConfigMap.")',
  sample: "Hello",
};
const port: Field = {
  name: "port",
  schema: 'z.int32().min(1).max(65_535).default(80).describe("The port of the Service.")',
  sample: 80,
};
const schedule: Field = {
  name: "schedule",
  schema: 'z.string().min(1).default("*/5 * * * *").describe("The schedule in cron syntax.")',
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

/** Deployment and StatefulSet, which differ in one field. */
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

const dependentKinds: readonly DependentKind[] = [
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

/** The kinds that a new controller can own. */
export const dependentKindNames: readonly string[] = dependentKinds.map(({ kind }) => kind);

/** Returns these kinds, each once, in alphabetical order. @throws UsageError when one is unknown */
export function selectDependentKinds(kinds: readonly string[]): readonly DependentKind[] {
  for (const kind of kinds) {
    if (dependentKindNames.includes(kind)) continue;
    const similar = dependentKindNames.find((other) => other.toLowerCase() === kind.toLowerCase().replace(/s$/, ""));
    const advice = similar === undefined
      ? "Start with one of these, then change desired.ts"
      : `Did you mean ${similar}?`;
    throw new UsageError(`Cannot write a controller that owns "${kind}": ${listOf(dependentKindNames)}`, advice);
  }
  return dependentKinds.filter(({ kind }) => kinds.includes(kind));
}

/** Returns the fields that these kinds add to the spec, each once. */
export function fieldsOf(dependents: readonly DependentKind[]): readonly Field[] {
  return [...new Set(dependents.flatMap(({ fields }) => fields))];
}

/** Indents lines. */
export function indented(lines: readonly string[], steps = 1): readonly string[] {
  return lines.map((line) => `${"  ".repeat(steps)}${line}`);
}

/** The name of a variable for an object of the kind: `configMap`. */
export function variableOf({ kind }: DependentKind): string {
  return `${kind.slice(0, 1).toLowerCase()}${kind.slice(1)}`;
}
