/**
 * Server-side apply and other writes of a kind with several versions that lack fields of each other: managedFields per version,
 * pruning by conversion, conflicts and ownership. Each case runs with each version as the stored one.
 */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

type Version = "v1" | "v1beta1" | "v2";

const text: Body = { type: "string" };
const part: Body = { type: "object", required: ["name"], properties: { name: text, value: text } };

/**
 * v1beta1 lacks `color` and has `weight`; v2 has other kinds of lists. No object has more than one field that a version lacks,
 * because a real server reports one of several by chance.
 */
const specs: Readonly<Record<Version, Body>> = {
  v1: {
    size: { type: "integer", default: 1 },
    color: text,
    note: text,
    labels: { type: "object", additionalProperties: text },
    parts: { type: "array", items: part, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
    tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    nested: { type: "object", properties: { left: text, right: text } },
  },
  v1beta1: {
    size: { type: "integer", default: 2 },
    note: text,
    weight: { type: "integer" },
    labels: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
    parts: { type: "array", items: part, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
    tags: { type: "array", items: text },
    nested: { type: "object", properties: { left: text, right: text } },
  },
  v2: {
    size: { type: "integer" },
    color: { type: "string", default: "red" },
    note: { type: "string", default: "none" },
    labels: { type: "object", additionalProperties: text },
    parts: { type: "array", items: part },
    tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    nested: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

const versions: readonly Version[] = ["v1", "v1beta1", "v2"];

function definition(group: string, stored: Version, served: readonly Version[] = versions): Body {
  return {
    metadata: { name: `shapes.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "shapes", singular: "shape", kind: "Shape", listKind: "ShapeList" },
      versions: versions.map((name) => ({
        name,
        served: served.includes(name),
        storage: name === stored,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: specs[name] },
              status: {
                type: "object",
                properties: { phase: text, ...(name === "v1beta1" ? {} : { detail: text }) },
              },
            },
          },
        },
      })),
    },
  };
}

/** The Shape `a` of a case. */
class Shapes {
  readonly #run: CaseRun;
  readonly #group: string;
  readonly #stored: Version;

  constructor(run: CaseRun, group: string, stored: Version) {
    this.#run = run;
    this.#group = group;
    this.#stored = stored;
  }

  path(version: Version): string {
    return at(this.#run, `${this.#group}/${version}/shapes`, "a");
  }

  #body(version: Version, fields: Body): Body {
    return { apiVersion: `${this.#group}/${version}`, kind: "Shape", metadata: { name: "a" }, ...fields };
  }

  apply(version: Version, manager: string, spec: Body, query = ""): Promise<unknown> {
    return this.#run.call({
      method: "PATCH",
      path: `${this.path(version)}?fieldManager=${manager}${query}`,
      type: "application/apply-patch+yaml",
      body: this.#body(version, { spec }),
    });
  }

  applyStatus(version: Version, manager: string, status: Body): Promise<unknown> {
    return this.#run.call({
      method: "PATCH",
      path: `${this.path(version)}/status?fieldManager=${manager}`,
      type: "application/apply-patch+yaml",
      body: this.#body(version, { status }),
    });
  }

  merge(version: Version, manager: string, spec: Body): Promise<unknown> {
    return this.#run.call({
      method: "PATCH",
      path: `${this.path(version)}?fieldManager=${manager}`,
      type: "application/merge-patch+json",
      body: { spec },
    });
  }

  put(version: Version, manager: string, spec: Body): Promise<unknown> {
    const path = `${this.path(version)}?fieldManager=${manager}`;
    return this.#run.prepare({ path: this.path(version) }).then(({ metadata: { resourceVersion } }) =>
      this.#run.call({
        method: "PUT",
        path,
        body: { ...this.#body(version, { spec }), metadata: { name: "a", resourceVersion } },
      })
    );
  }

  async readAll(): Promise<void> {
    for (const version of versions) await this.#run.call({ path: this.path(version) });
  }

  /** Serves only some versions from now on. */
  async serve(served: readonly Version[]): Promise<void> {
    const { spec } = definition(this.#group, this.#stored, served);
    await this.#run.prepare({
      method: "PATCH",
      path: `${definitions}/shapes.${this.#group}`,
      type: "application/merge-patch+json",
      body: { spec },
    });
    for (const version of versions) {
      const isExpected = (_: unknown, code: number) => (code === 200) === served.includes(version);
      await this.#run.until(at(this.#run, `${this.#group}/${version}/shapes`), isExpected);
    }
  }
}

async function withShapes(run: CaseRun, stored: Version, act: (shapes: Shapes) => Promise<void>): Promise<void> {
  const group = `a${run.unique}.example.com`;
  await run.prepare({ path: definitions, body: definition(group, stored) });
  try {
    for (const version of versions) {
      await run.until(at(run, `${group}/${version}/shapes`), (_, code) => code === 200);
    }
    await act(new Shapes(run, group, stored));
  } finally {
    await run.prepare({ method: "DELETE", path: `${definitions}/shapes.${group}` }).catch(() => undefined);
  }
}

const force = "&force=true";
const whole: Body = {
  size: 3,
  color: "blue",
  note: "n",
  labels: { a: "1", b: "2" },
  parts: [{ name: "x", value: "1" }, { name: "y", value: "2" }],
  tags: ["s", "t"],
  nested: { left: "l", right: "r" },
};

const acts: Readonly<Record<string, (shapes: Shapes) => Promise<void>>> = {
  "an apply in a new version is read in all": async (shapes) => {
    await shapes.apply("v1", "one", whole);
    await shapes.readAll();
  },
  "an apply in the version that lacks fields": async (shapes) => {
    await shapes.apply("v1beta1", "one", { size: 3, note: "n", color: "blue", nested: { left: "l", right: "r" } });
    await shapes.apply("v1beta1", "one", { size: 3, note: "n", weight: 5, nested: { left: "l" } });
    await shapes.readAll();
    await shapes.apply("v1", "two", { color: "green" });
    await shapes.readAll();
  },
  "two managers in two versions": async (shapes) => {
    await shapes.apply("v1", "one", whole);
    await shapes.apply("v1beta1", "two", { note: "n", parts: [{ name: "x" }, { name: "z" }] });
    await shapes.apply("v2", "three", { size: 9, parts: [{ name: "x", value: "9" }] }, force);
    await shapes.readAll();
    await shapes.apply("v1beta1", "two", { note: "n" });
    await shapes.readAll();
  },
  "one manager changes its version": async (shapes) => {
    await shapes.apply("v1", "one", whole);
    await shapes.apply("v1beta1", "one", { size: 3, note: "n", parts: [{ name: "x" }] });
    await shapes.readAll();
    await shapes.apply("v1", "one", { size: 3, note: "n", color: "blue" });
    await shapes.apply("v2", "one", { color: "blue" });
    await shapes.readAll();
  },
  "conflicts between versions": async (shapes) => {
    await shapes.apply("v1", "one", whole);
    await shapes.apply("v1beta1", "two", { size: 4, note: "other", nested: { left: "o" } });
    await shapes.apply("v1beta1", "two", { labels: { a: "9" } });
    await shapes.apply("v1beta1", "two", { tags: ["s"] });
    await shapes.apply("v2", "two", { color: "green", parts: [{ name: "x", value: "5" }] });
    await shapes.apply("v2", "two", { color: "green", size: 3 }, force);
    await shapes.apply("v1", "one", whole);
    await shapes.readAll();
  },
  "a merge patch in another version": async (shapes) => {
    await shapes.apply("v1", "one", whole);
    await shapes.merge("v1beta1", "three", { note: "patched" });
    await shapes.readAll();
    await shapes.merge("v2", "three", { color: "green", nested: { left: "o" } });
    await shapes.merge("v1", "four", { size: null, nested: null });
    await shapes.readAll();
  },
  "an update in another version": async (shapes) => {
    await shapes.apply("v1", "one", whole);
    await shapes.put("v1beta1", "three", { size: 3, note: "n", parts: [{ name: "y" }] });
    await shapes.readAll();
    await shapes.put("v2", "three", { parts: [{ name: "y", value: "v" }] });
    await shapes.put("v1beta1", "four", { note: "n" });
    await shapes.readAll();
  },
  "nothing changes in another version": async (shapes) => {
    await shapes.apply("v1", "one", { size: 3, note: "n" });
    await shapes.merge("v1beta1", "three", { note: "n" });
    await shapes.apply("v1beta1", "two", { note: "n" });
    await shapes.apply("v1beta1", "two", { note: "n" });
    await shapes.apply("v2", "two", {});
    await shapes.readAll();
  },
  "status in several versions": async (shapes) => {
    await shapes.apply("v1", "one", { note: "n" });
    await shapes.applyStatus("v1", "one", { phase: "Ready", detail: "d" });
    await shapes.applyStatus("v1beta1", "two", { phase: "Ready" });
    await shapes.readAll();
    await shapes.applyStatus("v1beta1", "one", { phase: "Gone" });
    await shapes.apply("v2", "one", { color: "blue" });
    await shapes.readAll();
  },
};

const stopped: Readonly<Record<string, (shapes: Shapes) => Promise<void>>> = {
  "a version is not served any more": async (shapes) => {
    await shapes.apply("v1beta1", "one", { note: "n", parts: [{ name: "x" }] });
    await shapes.apply("v1", "two", { color: "blue" });
    await shapes.merge("v1beta1", "three", { size: 5 });
    await shapes.serve(["v1", "v2"]);
    await shapes.apply("v1", "four", { note: "n" });
    await shapes.apply("v1", "one", { color: "green" }, force);
    await shapes.apply("v2", "two", { note: "two" }, force);
    await shapes.readAll();
  },
};

export const appliedVersionCases: readonly ConformanceCase[] = [
  ...Object.entries(acts).flatMap(([name, act]) =>
    versions.map((stored) => scenario(`${name}, ${stored} is stored`, (run) => withShapes(run, stored, act)))
  ),
  ...Object.entries(stopped).map(([name, act]) => scenario(name, (run) => withShapes(run, "v1", act))),
];
