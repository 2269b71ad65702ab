import { readFileSync } from "node:fs";
import { assertEquals, test } from "../../tests/testing.ts";
import { GraphError } from "./mod.ts";
import { readGraphs } from "./testing/read_graphs.ts";

/** The error of a text that is no valid graph. */
function errorOf(text: string): GraphError {
  try {
    readGraphs(text, "site.yaml");
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
  throw new Error("the graph is valid");
}

/** A graph with a Deployment and a ConfigMap that reads it. */
const valid = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata:
  name: site
spec:
  schema:
    apiVersion: v1
    kind: Site
    group: example.dev
    spec:
      host: string | required=true
      replicas: integer | default=2 minimum=0 maximum=5
      tags: "map[string]string"
      tier: string | enum="free,paid" default=free
    status:
      available: \${servers.status.availableReplicas}
      hosts:
        - \${page.data.host}
  resources:
    - id: page
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: \${schema.metadata.name}
          labels: \${schema.spec.tags}
        data:
          host: \${schema.spec.host}
          servers: "\${servers.metadata.name} has \${string(servers.spec.replicas)}"
    - id: servers
      readyWhen:
        - \${servers.status.availableReplicas > 0}
      includeWhen:
        - \${schema.spec.replicas > 0}
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: \${schema.metadata.name}
        spec:
          replicas: \${schema.spec.replicas}
          selector:
            matchLabels: {app: site}
          template:
            metadata:
              labels: {app: site}
            spec:
              containers:
                - name: web
                  image: nginx
                  resources:
                    limits: {cpu: 500m}
`;

test("graphControllers() orders the resources by what they read, and makes a definition from the schema", () => {
  const [site, ...others] = readGraphs(valid);
  assertEquals(others, []);
  assertEquals(site?.name, "site");
  assertEquals(site?.dependents?.steps.map(({ name }) => name), ["servers", "page"]);
  assertEquals(site?.watches.map(({ resource }) => resource.kind), ["Site", "Deployment", "ConfigMap"]);
  const { crd } = site?.primary as unknown as {
    crd: { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } };
  };
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema as {
    properties: { spec: unknown; status: { properties: Record<string, unknown> } };
  };
  assertEquals(schema.properties.spec, {
    type: "object",
    required: ["host"],
    properties: {
      host: { type: "string" },
      replicas: { type: "integer", minimum: 0, maximum: 5, default: 2 },
      tags: { type: "object", additionalProperties: { type: "string" } },
      tier: { type: "string", enum: ["free", "paid"], default: "free" },
    },
  });
  assertEquals(schema.properties.status.properties.available, { type: "integer" });
  assertEquals(schema.properties.status.properties.hosts, { type: "array", items: { type: "string" } });
});

const mistakes: readonly (readonly [what: string, from: string, to: string, message: RegExp, reported?: string])[] = [
  [
    "an unknown field of an expression",
    "servers.spec.replicas)",
    "servers.spec.replica)",
    /undefined field 'replica'/,
  ],
  [
    "an unknown field of a template",
    "  image: nginx",
    "  imag: nginx",
    /containers\[0\]\.imag: the field does not exist/,
  ],
  [
    "an unknown resource",
    "${servers.metadata.name}",
    "${server.metadata.name}",
    /undeclared reference to 'server'/,
  ],
  [
    "an expression of a wrong type",
    "replicas: ${schema.spec.replicas}",
    "replicas: ${schema.spec.host}",
    /the field is of the type integer, and the expression of the type string/,
  ],
  [
    "a literal of a wrong type",
    "{app: site}\n          template",
    "{app: 1}\n          template",
    /matchLabels\.app: the field is of the type string, and the value is of the type integer/,
  ],
  ["a number in a text", "${string(servers.spec.replicas)}", "${servers.spec.replicas}", /Use \${string\(/],
  ["a condition that is no bool", "availableReplicas > 0", "availableReplicas", /a condition is a bool/],
  [
    "a condition of another resource",
    "schema.spec.replicas > 0",
    "page.data.host == ''",
    /undeclared reference to 'page'/,
  ],
  ["an unknown type", "host: string |", "host: text |", /the type "text" is unknown/],
  ["an unknown marker", "minimum=0", "least=0", /the marker "least" is unknown/],
  ["a default outside of its bounds", "default=2", "default=9", /the default 9 is not valid/],
  ["an unknown kind", "kind: ConfigMap", "kind: ConfigMop", /the kind ConfigMop of v1 is unknown/],
  ["an unknown part", "includeWhen:", "includeIf:", /includeIf/, "- id: servers"],
  ["an external reference", "includeWhen:", "externalRef:", /externalRef is not supported/],
  ["a field of the status that is reserved", "hosts:", "conditions:", /the field conditions is reserved/],
  [
    "a missing name",
    "name: ${schema.metadata.name}\n          labels",
    "labels",
    /metadata\.name is missing/,
    "template:",
  ],
  ["an expression that does not end", "${page.data.host}", "${page.data.host", /does not end/],
  [
    "resources that read each other",
    "limits: {cpu: 500m}",
    "limits: {cpu: '${page.data.host}'}",
    /circle: page -> servers -> page/,
    "- id: page",
  ],
];

for (const [what, from, to, message, reported] of mistakes) {
  test(`graphControllers() refuses ${what} with file and line`, () => {
    const text = valid.replace(from, () => to);
    const error = errorOf(text);
    // The changed line, or the first one with the given text.
    const lines = text.split("\n"), before = valid.split("\n");
    const changed = lines.findIndex((one, at) => reported === undefined ? one !== before[at] : one.includes(reported));
    assertEquals(
      [error.file, error.line, message.test(error.message)],
      ["site.yaml", changed + 1, true],
      error.message,
    );
  });
}

test("graphControllers() refuses graphs that contain each other, and names the circle", () => {
  const graph = (kind: string, other: string) =>
    valid.slice(0, valid.indexOf("    status:")).replace("kind: Site", `kind: ${kind}`) + `  resources:
    - id: other
      template:
        apiVersion: example.dev/v1
        kind: ${other}
        metadata: {name: a}
        spec: {host: a}
`;
  const text = [graph("First", "Second"), graph("Second", "First")].join("---\n");
  const { message } = errorOf(text);
  assertEquals(/circle: First -> Second -> First/.test(message), true, message);
});

test("graphControllers() takes the objects of a file as samples", () => {
  const [tenant, application] = readGraphs(readFileSync("examples/graphs/tenant.yaml", "utf8"));
  assertEquals(tenant?.samples?.map(({ metadata: { name } }) => name), ["red"]);
  assertEquals(application?.samples, undefined);
  const { message } = errorOf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
  assertEquals(/line 1: it is neither/.test(message), true, message);
});

for (const page of ["docs/guide/graphs.md", "docs/adr/0030-graphs-are-compiled-to-dependents.md"]) {
  test(`the graph in ${page} is valid`, () => {
    const [, text = ""] = /```yaml\n(.*?)```/s.exec(readFileSync(page, "utf8")) ?? [];
    assertEquals(readGraphs(text).map(({ name }) => name), ["note"]);
  });
}

test("the guide shows the error of a mistake in its graph", () => {
  const guide = readFileSync("docs/guide/graphs.md", "utf8");
  const [, text = ""] = /```yaml\n(.*?)```/s.exec(guide) ?? [];
  const [, shown = ""] = /```text\ncontroller: (.*?)\n```/s.exec(guide) ?? [];
  const mistaken = text.replace("${schema.spec.text}", () => "${schema.spec.texts}");
  assertEquals(errorOf(mistaken).message.replace("site.yaml", "note.yaml"), shown.replaceAll("\n", " "));
});
