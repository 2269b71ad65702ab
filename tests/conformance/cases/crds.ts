/** Custom resource definitions and custom resources: validation, defaults, subresources, tables and watches. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";
import { untilDiscovered } from "./_waits.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const schema: Body = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        color: { type: "string", enum: ["red", "blue"], default: "red" },
        name: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-z]+$" },
        when: { type: "string", format: "date-time" },
        tags: { type: "array", items: { type: "string" }, maxItems: 3, "x-kubernetes-list-type": "set" },
        ports: {
          type: "array",
          items: {
            type: "object",
            required: ["port"],
            properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" } },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        anything: { "x-kubernetes-int-or-string": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        maybe: { type: "string", nullable: true },
        min: { type: "integer" },
        max: { type: "integer" },
        fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "is immutable" }] },
      },
      "x-kubernetes-validations": [{
        rule: "!has(self.min) || !has(self.max) || self.min <= self.max",
        messageExpression: "self.max < 3 ? 'min is above a low max' : 'min is above max'",
      }],
    },
    status: {
      type: "object",
      properties: { ready: { type: "integer" }, replicas: { type: "integer" }, selector: { type: "string" } },
    },
  },
};

function definition(group: string, version: Body = {}, spec: Body = {}): Body {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        plural: "widgets",
        singular: "widget",
        kind: "Widget",
        listKind: "WidgetList",
        shortNames: ["wd"],
        categories: ["all"],
      },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.size",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Color", type: "string", jsonPath: ".spec.color", description: "its color", priority: 1 },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        selectableFields: [{ jsonPath: ".spec.color" }],
        ...version,
      }],
      ...spec,
    },
  };
}

const groupOf = (run: CaseRun) => `w${run.unique}.example.com`;

/** A case with its own custom resource. The server serves it before the case begins; it is deleted afterwards. */
function onWidgets(
  name: string,
  act: (run: CaseRun, path: string, group: string) => Promise<void>,
  version: Body = {},
) {
  return scenario(name, async (run) => {
    const group = groupOf(run);
    await run.prepare({ path: definitions, body: definition(group, version) });
    const one = `${definitions}/widgets.${group}`;
    await run.until(
      one,
      (live) =>
        (live.status?.conditions ?? []).some(({ type, status }: Any) => type === "Established" && status === "True"),
    );
    const path = at(run, `${group}/v1/widgets`);
    try {
      await run.until(path, (_, code) => code === 200);
      await untilDiscovered(run, group);
      await act(run, path, group);
    } finally {
      await run.prepare({ method: "DELETE", path: one }).catch(() => undefined);
    }
  });
}

const widget = (run: CaseRun, spec: unknown, rest: Body = {}) => ({
  apiVersion: `${groupOf(run)}/v1`,
  kind: "Widget",
  metadata: { name: "a" },
  spec,
  ...rest,
});

const merge = "application/merge-patch+json";

/** Names of fields that CEL reserves: those of its grammar, and those that are only no identifiers. */
const reservedNames = {
  grammar: ["true", "false", "null", "in"],
  identifiers: [
    ...["as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"],
    ...["namespace", "return", "var", "void", "while"],
  ],
} as const;

/** A schema of a spec with strings of these names, and a rule about each of them. */
function schemaWithNames(names: readonly string[], rule: (name: string) => string): Body {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string", maxLength: 10 }]));
  const rules = names.map((name) => ({ rule: rule(name), message: `${name} must not be "no"` }));
  return {
    type: "object",
    properties: { spec: { type: "object", properties, "x-kubernetes-validations": rules } },
  };
}

/** Fields of the metadata with values of other types, and empty ones. */
const wrongMetadata: readonly (readonly [string, unknown])[] = [
  ["labels", []],
  ["labels", ""],
  ["annotations", 0],
  ["finalizers", {}],
  ["finalizers", [null]],
  ["ownerReferences", {}],
  ["ownerReferences", [null]],
  ["ownerReferences", [{ uid: 1 }]],
  ["managedFields", [1]],
  ["uid", {}],
  ["namespace", []],
  ["resourceVersion", 0],
  ["generation", 1.5],
];

const invalidSpecs: readonly (readonly [string, unknown])[] = [
  ["no spec", undefined],
  ["missing required fields", {}],
  ["types", { size: "1", color: 2, tags: "x", ports: [1], labels: { a: 1 }, free: 5 }],
  ["numbers", { size: 0 }],
  ["numbers that are not integers", { size: 1.5 }],
  ["enums and lengths", { size: 20, color: "green", name: "A" }],
  ["patterns and formats", { size: 1, name: "ABC", when: "today" }],
  ["sets and maps", { size: 1, tags: ["a", "a"], ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] }],
  ["lists that are too long", { size: 1, tags: ["a", "b", "c", "d"] }],
  ["rules", { size: 1, min: 5, max: 2 }],
  ["null", { size: null, color: null, maybe: null }],
  ["int or string", { size: 1, anything: true }],
];

const objects: readonly ConformanceCase[] = [
  onWidgets("custom resources: create, get, list, update, patch, delete", async (run, path) => {
    const created = await run.call({
      path,
      body: widget(run, { size: 1, ports: [{ port: 1 }], unknown: 1, free: { any: [1] } }),
    });
    await run.call({ path: `${path}/a` });
    await run.call({ path });
    await run.call({ method: "PUT", path: `${path}/a`, body: { ...created, spec: { size: 2 } } });
    await run.call({ method: "PUT", path: `${path}/a`, body: widget(run, { size: 2 }) });
    await run.call({ method: "PATCH", path: `${path}/a`, type: merge, body: { spec: { color: "blue" } } });
    await run.call({
      method: "PATCH",
      path: `${path}/a`,
      type: "application/json-patch+json",
      body: [{ op: "replace", path: "/spec/size", value: 3 }],
    });
    await run.call({ method: "PATCH", path: `${path}/a`, type: "application/strategic-merge-patch+json", body: {} });
    await run.call({ method: "DELETE", path: `${path}/a` });
    await run.call({ path: `${path}/a` });
    await run.call({ path: `${path}/a/b` });
    await run.call({ method: "POST", path: `${path}/a`, body: widget(run, { size: 1 }) });
  }),
  ...invalidSpecs.map(([what, spec]) =>
    onWidgets(`invalid custom resources: ${what}`, async (run, path) => {
      await run.call({ path, body: widget(run, spec), sortsCauses: true });
    })
  ),
  onWidgets("custom resources: fieldValidation", async (run, path) => {
    for (const mode of ["Strict", "Warn", "Ignore"]) {
      await run.call({
        path: `${path}?dryRun=All&fieldValidation=${mode}`,
        body: widget(run, { size: 1, unknown: 1, free: { x: 1 } }, { extra: 1 }),
      });
      await run.call({
        path: `${path}?dryRun=All&fieldValidation=${mode}`,
        body: JSON.stringify(widget(run, { size: 1 })).replace('"size":1', '"size":1,"size":2'),
      });
    }
  }),
  onWidgets("custom resources: transition rules", async (run, path) => {
    await run.call({ path, body: widget(run, { size: 1, fixed: "a" }) });
    await run.call({ method: "PATCH", path: `${path}/a`, type: merge, body: { spec: { fixed: "b" } } });
    await run.call({ method: "PATCH", path: `${path}/a`, type: merge, body: { spec: { fixed: null } } });
  }),
  ...[["as they are", ""], ["escaped", "__"]].map(([how, around]) =>
    onWidgets(`custom resources: rules that name fields with reserved words ${how}`, async (run, path) => {
      const { identifiers } = reservedNames;
      const all = (value: string) => Object.fromEntries(identifiers.map((name) => [name, value]));
      await run.call({ path, body: widget(run, all("no")), sortsCauses: true });
      await run.call({ path, body: widget(run, { ...all("yes"), namespace: "no" }) });
      await run.call({ path, body: widget(run, all("yes")) });
      await run.call({ path, body: widget(run, {}, { metadata: { name: "b" } }) });
    }, {
      schema: {
        openAPIV3Schema: schemaWithNames(reservedNames.identifiers, (name) => {
          const field = `self.${around}${name}${around}`;
          return `!has(${field}) || ${field} != "no"`;
        }),
      },
      subresources: {},
      additionalPrinterColumns: undefined,
      selectableFields: undefined,
    })
  ),
  onWidgets("custom resources: status, scale and generation", async (run, path) => {
    await run.call({ path, body: widget(run, { size: 1 }, { status: { ready: 5 } }) });
    await run.call({
      method: "PATCH",
      path: `${path}/a/status`,
      type: merge,
      body: { status: { ready: 1, replicas: 1, selector: "a=b" }, spec: { size: 9 } },
    });
    await run.call({
      method: "PATCH",
      path: `${path}/a`,
      type: merge,
      body: { status: { ready: 2 }, spec: { size: 2 } },
    });
    await run.call({ path: `${path}/a/scale` });
    await run.call({ method: "PATCH", path: `${path}/a/scale`, type: merge, body: { spec: { replicas: 3 } } });
    await run.call({ method: "PATCH", path: `${path}/a/scale`, type: merge, body: { spec: { replicas: 30 } } });
    await run.call({ path: `${path}/a` });
  }),
  onWidgets("custom resources: apply", async (run, path) => {
    const apply = (manager: string, spec: Body, query = "") =>
      run.call({
        method: "PATCH",
        path: `${path}/a?fieldManager=${manager}${query}`,
        type: "application/apply-patch+yaml",
        body: widget(run, spec),
      });
    await apply("one", { size: 1, tags: ["a"], ports: [{ port: 1 }] });
    await apply("two", { size: 2, tags: ["b"], ports: [{ port: 2, protocol: "UDP" }] });
    await apply("two", { size: 2, tags: ["b"], ports: [{ port: 2, protocol: "UDP" }] }, "&force=true");
    await apply("one", { tags: [] });
    await apply("one", { size: "x" });
  }),
  onWidgets("custom resources: appliers share metadata", async (run, path) => {
    const owner = (uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid });
    const apply = (manager: string, metadata: Body) =>
      run.call({
        method: "PATCH",
        path: `${path}/a?fieldManager=${manager}`,
        type: "application/apply-patch+yaml",
        body: widget(run, { size: 1 }, { metadata: { name: "a", ...metadata } }),
      });
    await apply("one", { labels: { one: "1" }, finalizers: ["example.com/one"], ownerReferences: [owner("1")] });
    await apply("two", { labels: { two: "2" }, finalizers: ["example.com/two"], ownerReferences: [owner("2")] });
    await apply("one", { annotations: { one: "1" } });
    await apply("two", { unknown: "2" });
    await run.call({ method: "PATCH", path: `${path}/a`, type: merge, body: { metadata: { finalizers: null } } });
  }),
  onWidgets("custom resources: metadata of wrong types", async (run, path) => {
    for (const [field, value] of wrongMetadata) {
      const metadata = { name: "a", [field]: value };
      await run.call({ path: `${path}?dryRun=All`, body: widget(run, { size: 1 }, { metadata }) });
    }
    await run.call({ path, body: widget(run, { size: 1 }, { metadata: "" }) });
    await run.prepare({ path, body: widget(run, { size: 1 }) });
    const body = [{ op: "add", path: "/metadata/labels", value: [] }];
    await run.call({ method: "PATCH", path: `${path}/a`, type: "application/json-patch+json", body });
  }),
  onWidgets("custom resources: tables, selectors and discovery", async (run, path, group) => {
    await run.prepare({ path, body: widget(run, { size: 1 }) });
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    await run.call({ path: `${path}?includeObject=None`, accept });
    await run.call({ path: `${path}/a`, accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" });
    await run.call({ path: `${path}?fieldSelector=spec.color%3Dred`, pick: ({ items }) => items.length });
    await run.call({ path: `${path}?fieldSelector=spec.color%3Dblue`, pick: ({ items }) => items.length });
    await run.call({ path: `${path}?fieldSelector=spec.size%3D1` });
    await run.call({ path: `/apis/${group}` });
    await run.call({ path: `/apis/${group}/v1` });
    await run.call({ path: `/apis/${group}/v2` });
    await run.call({ path: `${definitions}/widgets.${group}`, pick: ({ status }) => status });
  }),
  onWidgets("custom resources: a watch", async (run, path) => {
    const { metadata } = await run.prepare({ path });
    await run.watch(`${path}?resourceVersion=${metadata.resourceVersion}`, {
      count: 3,
      act: async () => {
        await run.prepare({ path, body: widget(run, { size: 1 }) });
        await run.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { spec: { size: 2 } } });
        await run.prepare({ method: "DELETE", path: `${path}/a` });
      },
    });
  }),
  onWidgets("custom resources without a status subresource", async (run, path) => {
    await run.call({ path, body: widget(run, { size: 1 }, { status: { ready: 5 } }) });
    await run.call({ method: "PATCH", path: `${path}/a/status`, type: merge, body: { status: { ready: 1 } } });
    await run.call({ method: "PATCH", path: `${path}/a`, type: merge, body: { status: { ready: 7 } } });
    await run.call({ path: `${path}/a/scale` });
    await run.call({ path: `${path}?includeObject=None`, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  }, { subresources: {}, additionalPrinterColumns: undefined }),
  onWidgets("deletion of a definition deletes its objects", async (run, path, group) => {
    await run.prepare({ path, body: widget(run, { size: 1 }) });
    const one = `${definitions}/widgets.${group}`;
    await run.call({ method: "DELETE", path: one, pick: ({ kind }) => kind });
    await run.until(one, (_, code) => code === 404);
    await run.until(path, (_, code) => code === 404);
    await run.call({ path });
    await run.prepare({ path: definitions, body: definition(group) });
  }),
];

/** Invalid definitions, as changes of a valid one. */
const invalidDefinitions: readonly (readonly [string, (group: string) => Body])[] = [
  ["a name", (group) => ({ ...definition(group), metadata: { name: "others.example.com" } })],
  ["no schema", (group) => definition(group, { schema: undefined })],
  [
    "a schema without a type",
    (group) => definition(group, { schema: { openAPIV3Schema: { properties: { spec: {} } } } }),
  ],
  [
    "a schema that is not structural",
    (group) =>
      definition(group, {
        schema: { openAPIV3Schema: { type: "object", anyOf: [{ type: "object", description: "x" }] } },
      }),
  ],
  [
    "a default of the wrong type",
    (group) =>
      definition(group, {
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { a: { type: "integer", default: "x" } } } },
          },
        },
      }),
  ],
  [
    "a rule that does not compile",
    (group) =>
      definition(group, {
        schema: {
          openAPIV3Schema: {
            type: "object",
            "x-kubernetes-validations": [{ rule: "self.nothing > " }, { rule: "self.nothing" }, { rule: "1" }],
          },
        },
      }),
  ],
  ...reservedNames.grammar.map((name) =>
    [
      `a rule that names the field ${name} without escapes`,
      (group: string) =>
        definition(group, { schema: { openAPIV3Schema: schemaWithNames([name], () => `self.${name} == ""`) } }),
    ] as const
  ),
  [
    "a rule that costs too much",
    (group) =>
      definition(group, {
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { a: { type: "array", items: { type: "array", items: { type: "string" } } } },
            "x-kubernetes-validations": [{ rule: "self.a.all(x, x.all(y, self.a.all(z, z.all(w, w.contains(y)))))" }],
          },
        },
      }),
  ],
  [
    "a list of maps without keys",
    (group) =>
      definition(group, {
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { a: { type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } } },
          },
        },
      }),
  ],
  [
    "two storage versions",
    (group) =>
      definition(group, {}, {
        versions: ["v1", "v2"].map((name) => ({
          name,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object" } },
        })),
      }),
  ],
  ["names", (group) => definition(group, {}, { names: { plural: "widgets", kind: "widget!", shortNames: ["W D"] } })],
  ["a scope", (group) => definition(group, {}, { scope: "Everywhere" })],
  [
    "columns",
    (group) => definition(group, { additionalPrinterColumns: [{ name: "", type: "thing", jsonPath: "spec" }] }),
  ],
  [
    "a scale",
    (group) =>
      definition(group, { subresources: { scale: { specReplicasPath: "spec.size", statusReplicasPath: "" } } }),
  ],
  ["a conversion", (group) => definition(group, {}, { conversion: { strategy: "Webhook" } })],
  [
    "selectable fields",
    (group) => definition(group, { selectableFields: [{ jsonPath: ".spec.absent" }, { jsonPath: ".spec.free" }] }),
  ],
  [
    "a protected group of Kubernetes",
    (group) => ({ ...definition(group, {}, { group: "mine.k8s.io" }), metadata: { name: "widgets.mine.k8s.io" } }),
  ],
];

const invalidDefinitionCases = invalidDefinitions.map(([what, body]) =>
  requests(
    `an invalid definition: ${what}`,
    (run) => [{ path: `${definitions}?dryRun=All`, body: body(groupOf(run)) }],
  )
);

export const crdCases: readonly ConformanceCase[] = [
  requests(
    "defaults of a definition",
    (run) => [{ path: `${definitions}?dryRun=All`, body: definition(groupOf(run)) }],
  ),
  ...objects,
  ...invalidDefinitionCases,
];
