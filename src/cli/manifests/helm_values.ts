/** The values of a chart: their defaults, what they mean, and their schema, by which Helm checks those of the user. */
import { formatValue } from "../output/mod.ts";
import { imageParts } from "./image_parts.ts";
import type { InstallPlan } from "./install_plan.ts";
import { deployment } from "./workload.ts";

/** One value. */
interface ChartValue {
  /** One sentence. */
  readonly about: string;
  readonly value: unknown;
  readonly schema: object;
}

/** The values by name. */
export type ChartValues = Readonly<Record<string, ChartValue>>;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
/** What Kubernetes itself checks. */
const [anyObject, anyList] = [{ type: "object" }, { type: "array", items: { type: "object" } }] as const;

/** Returns the values. */
export function chartValues(plan: InstallPlan): ChartValues {
  const { image, replicas, runFlags, tolerations, certSecret, hasServiceMonitor, hasMonitoring, monitoringLabels } =
    plan;
  const { runConfig } = plan;
  const { repository, tag = "", digest = "" } = imageParts(image);
  const [container] = deployment(plan).spec.template.spec?.containers ?? [];
  const values: ChartValues = {
    namespaceOverride: {
      about: "The namespace of the objects, which must exist: for a chart of charts. Empty is that of the release.",
      value: "",
      schema: { ...text, maxLength: 63, pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$" },
    },
    image: {
      about: "The image of the controllers. With a digest (sha256:...), the tag only says which version it is.",
      value: { repository, tag, digest },
      schema: objectOf({ repository: { ...text, minLength: 1 }, tag: text, digest: text }),
    },
    imagePullSecrets: {
      about: "The Secrets for a private registry, each as {name: NAME}.",
      value: [],
      schema: anyList,
    },
    replicas: {
      about: "The number of Pods. One of them reconciles, the others wait.",
      value: replicas,
      schema: { type: "integer", minimum: 0, maximum: 100 },
    },
    resources: {
      about: "The requests and limits of a Pod.",
      value: container?.resources ?? {},
      schema: anyObject,
    },
    nodeSelector: { about: "The labels of the Nodes for the Pods.", value: {}, schema: anyObject },
    tolerations: {
      about:
        "The taints that the Pods tolerate. Controllers that write Nodes tolerate all, so that they can start again.",
      value: tolerations,
      schema: anyList,
    },
    affinity: { about: "Further rules about the Nodes for the Pods.", value: {}, schema: anyObject },
    extraArgs: {
      about: "Further flags of the command run, such as --workers=4.",
      value: runFlags,
      schema: { type: "array", items: { type: "string", pattern: "^-" } },
    },
    crds: {
      about:
        "The definitions of the kinds: whether to install them, and whether they stay when the release is uninstalled. " +
        "Without them, all objects of the kinds are deleted.",
      value: { enabled: true, keep: true },
      schema: objectOf({ enabled: flag, keep: flag }),
    },
  };
  const withConfig = runConfig === undefined ? values : {
    ...values,
    runConfig: { about: "The configuration file of the command run.", value: runConfig.text, schema: text },
  };
  if (certSecret === undefined) return withConfig;
  const serviceMonitor = {
    about: "A ServiceMonitor for the Prometheus operator.",
    value: { enabled: hasServiceMonitor },
    schema: objectOf({ enabled: flag }),
  };
  const monitoring = {
    about: "Alerts for the Prometheus operator and a Grafana dashboard. " +
      "The labels are those by which your Prometheus selects alerts and the ServiceMonitor, such as {release: NAME}.",
    value: { enabled: hasMonitoring, labels: monitoringLabels },
    schema: objectOf({ enabled: flag, labels: { type: "object", additionalProperties: text } }),
  };
  return { ...withConfig, serviceMonitor, monitoring };
}

function objectOf(properties: object): object {
  return { type: "object", additionalProperties: false, properties };
}

/** Returns the content of values.yaml. */
export function valuesText(values: ChartValues): string {
  return Object.entries(values)
    .map(([name, { about, value }]) => `${comment(about)}${formatValue({ [name]: value }, "yaml")}`).join("\n");
}

/** One line for each sentence. */
function comment(about: string): string {
  return about.split(/(?<=\.) /).map((sentence) => `# ${sentence}\n`).join("");
}

/** Returns the JSON Schema of the values. */
export function valuesSchema(values: ChartValues): object {
  const properties = Object.entries(values).map(([name, { about, schema }]) =>
    [name, { description: about, ...schema }] as const
  );
  // Helm adds `global` to the values of each chart.
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...objectOf({ ...Object.fromEntries(properties), global: anyObject }),
  };
}
