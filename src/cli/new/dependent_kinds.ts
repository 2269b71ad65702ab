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

/** Returns the expression for a field of the owner's spec. */
export type ValueOf = (field: string) => string;

/** A kind that a new controller can own. */
export interface DependentKind {
  readonly kind: string;
  readonly fields: readonly Field[];
  /** The desired state without metadata. `object` is the owner. */
  readonly body: (spec: ValueOf) => readonly string[];
  /** An expression for whether `live`, the object on the server, is ready. @default it is ready when it exists */
  readonly ready?: (live: string, spec: ValueOf) => string;
  /** Two values that a test compares: one of `live`, and one of the spec. @default the object exists */
  readonly expected?: readonly [actual: (live: string) => string, field: string];
  /** Imports of desired.ts besides the library. */
  readonly imports?: readonly string[];
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
const task: Field = {
  name: "task",
  schema: 'immutable(z.string().min(1).default("busybox:1.37")).describe("The image of the Job, which cannot change.")',
  sample: "busybox:1.37",
};
const hostname: Field = {
  name: "hostname",
  schema: 'z.string().max(63).regex(/^[a-z0-9]+(\\.[a-z0-9]+)+$/).default("site.example.com").describe("The host.")',
  sample: "site.example.com",
};
const storage: Field = {
  name: "storage",
  schema: 'immutable(z.string().regex(/^[1-9][0-9]{0,5}[MG]i$/).default("1Gi")).describe("The size of the volume.")',
  sample: "1Gi",
};

const template = (containers: string) => [
  "template: {",
  "  metadata: { labels: labelsOf(object) },",
  `  spec: { ${containers} },`,
  "},",
];
const containersOf = (image: string) => `containers: [{ name: "main", image: ${image} }]`;
const selector = "selector: { matchLabels: labelsOf(object) },";
const readyReplicas = (live: string) => `(${live}.status?.readyReplicas ?? 0)`;
const inSpec = (...lines: readonly string[]) => ["spec: {", ...indented(lines), "},"];

/** Deployment and StatefulSet, which differ in one field. */
const replicated = (kind: string, ...own: readonly string[]): DependentKind => ({
  kind,
  fields: [image, replicas],
  body: (spec) => inSpec(...own, `replicas: ${spec("replicas")},`, selector, ...template(containersOf(spec("image")))),
  ready: (live, spec) => `${readyReplicas(live)} >= ${spec("replicas")}`,
  expected: [(live) => `${live}.status?.readyReplicas`, "replicas"],
});

const dependentKinds: readonly DependentKind[] = [
  {
    kind: "ConfigMap",
    fields: [text],
    body: (spec) => [`data: { text: ${spec("text")} },`],
    expected: [(live) => `${live}.data?.["text"]`, "text"],
  },
  {
    kind: "CronJob",
    fields: [schedule, image],
    body: (spec) =>
      inSpec(
        `schedule: ${spec("schedule")},`,
        "jobTemplate: {",
        "  spec: {",
        ...indented(template(`restartPolicy: "Never", ${containersOf(spec("image"))}`), 2),
        "  },",
        "},",
      ),
    expected: [(live) => `${live}.spec.schedule`, "schedule"],
  },
  {
    kind: "DaemonSet",
    fields: [image],
    body: (spec) => inSpec(selector, ...template(containersOf(spec("image")))),
    ready: (live) => `(${live}.status?.numberReady ?? 0) >= (${live}.status?.desiredNumberScheduled ?? 1)`,
    expected: [(live) => `${live}.spec?.template.spec?.containers[0]?.image`, "image"],
  },
  replicated("Deployment"),
  {
    kind: "Ingress",
    fields: [hostname],
    body: (spec) =>
      inSpec(
        "rules: [{",
        `  host: ${spec("hostname")},`,
        "  http: {",
        "    paths: [{",
        '      path: "/",',
        '      pathType: "Prefix",',
        "      backend: { service: { name: nameOf(object), port: { number: 80 } } },",
        "    }],",
        "  },",
        "}],",
      ),
    expected: [(live) => `${live}.spec?.rules?.[0]?.host`, "hostname"],
  },
  {
    kind: "Job",
    fields: [task],
    // The template of a Job cannot change.
    body: (spec) => inSpec(...template(`restartPolicy: "Never", ${containersOf(spec("task"))}`)),
    ready: (live) => `(${live}.status?.succeeded ?? 0) > 0`,
    expected: [(live) => `${live}.spec?.template.spec?.containers[0]?.image`, "task"],
  },
  {
    kind: "NetworkPolicy",
    fields: [port],
    body: (spec) =>
      inSpec("podSelector: { matchLabels: labelsOf(object) },", `ingress: [{ ports: [{ port: ${spec("port")} }] }],`),
  },
  {
    kind: "PersistentVolumeClaim",
    fields: [storage],
    body: (spec) =>
      inSpec('accessModes: ["ReadWriteOnce"],', `resources: { requests: { storage: ${spec("storage")} } },`),
    expected: [(live) => `${live}.spec?.resources?.requests?.["storage"]`, "storage"],
  },
  {
    kind: "PodDisruptionBudget",
    fields: [],
    body: () => inSpec(selector, "maxUnavailable: 1,"),
  },
  {
    kind: "Secret",
    fields: [text],
    body: (spec) => [`data: { text: Buffer.from(${spec("text")}).toString("base64") },`],
    imports: ['import { Buffer } from "node:buffer";'],
  },
  {
    kind: "Service",
    fields: [port],
    body: (spec) => inSpec("selector: labelsOf(object),", `ports: [{ name: "http", port: ${spec("port")} }],`),
    expected: [(live) => `${live}.spec.ports?.[0]?.port`, "port"],
  },
  {
    kind: "ServiceAccount",
    fields: [],
    body: () => ["automountServiceAccountToken: false,"],
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

/** The value of a field in the sample, as source text. */
export function sampleValue(field: string): string {
  const known = dependentKinds.flatMap(({ fields }) => fields).find(({ name }) => name === field);
  return JSON.stringify(known?.sample);
}

/** The name of a variable for an object of the kind: `configMap`. */
export function variableOf({ kind }: DependentKind): string {
  return `${kind.slice(0, 1).toLowerCase()}${kind.slice(1)}`;
}
