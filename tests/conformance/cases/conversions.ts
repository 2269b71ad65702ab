/** Custom resources in two versions: what a conversion webhook is asked, and what becomes of wrong answers. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { type Any, serving } from "./_hook_server.ts";
import { at, type Body } from "./_objects.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const versionOf = (name: string, isStored: boolean): Body => ({
  name,
  served: true,
  storage: isStored,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            size: { type: "integer", default: name === "v1" ? 1 : 2 },
            from: { type: "string" },
            [`only${name}`]: { type: "string" },
          },
        },
      },
    },
  },
});

function definition(group: string, conversion: Body): Body {
  const names = { plural: "shapes", singular: "shape", kind: "Shape", listKind: "ShapeList" };
  const versions = [versionOf("v1", true), versionOf("v2", false)];
  return { metadata: { name: `shapes.${group}` }, spec: { group, scope: "Namespaced", names, versions, conversion } };
}

/** Establishes the definition while a case runs. */
async function defined(run: CaseRun, conversion: Body, act: (group: string) => Promise<void>): Promise<void> {
  const group = `s${run.unique}.example.com`;
  await run.prepare({ path: definitions, body: definition(group, conversion) });
  for (const version of ["v1", "v2"]) {
    await run.until(at(run, `${group}/${version}/shapes`), (_, code) => code === 200);
  }
  await act(group);
  await run.prepare({ method: "DELETE", path: `${definitions}/shapes.${group}` });
}

const shape = (group: string, version: string, name: string, spec: Body): Body => ({
  apiVersion: `${group}/${version}`,
  kind: "Shape",
  metadata: { name },
  spec,
});

/** A webhook's answer: what becomes of each object. */
type Convert = (object: Any, apiVersion: string) => Any;

const converted: Convert = (object, apiVersion) => ({
  ...object,
  apiVersion,
  spec: { ...object.spec, from: object.apiVersion.split("/")[1] },
});

const answering = (convert: Convert) => ({ request }: Any): Body => ({
  result: { status: "Success" },
  convertedObjects: request.objects.map((object: Any) => convert(object, request.desiredAPIVersion)),
});

function withConversion(
  name: string,
  answer: (review: Any) => Body | number | string,
  act: (run: CaseRun, group: string, reviews: readonly Any[]) => Promise<void>,
): ConformanceCase {
  return scenario(name, async (run) => {
    await serving(answer, async ({ url, caBundle, reviews }) => {
      const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url, caBundle } };
      await defined(run, { strategy: "Webhook", webhook }, (group) => act(run, group, reviews));
    });
  });
}

const readAndWrite = async (run: CaseRun, group: string) => {
  const [first, second] = ["v1", "v2"].map((version) => at(run, `${group}/${version}/shapes`));
  if (first === undefined || second === undefined) return;
  await run.call({ path: first, body: shape(group, "v1", "a", { onlyv1: "x" }) });
  await run.call({ path: `${second}/a` });
  await run.call({ path: second });
  await run.call({ path: second, body: shape(group, "v2", "b", { onlyv2: "y" }) });
  await run.call({
    method: "PATCH",
    path: `${second}/a`,
    type: "application/merge-patch+json",
    body: { spec: { size: 7 } },
  });
  await run.call({ path: `${first}/a` });
};

/** Creates in the stored version and reads in the other; how often the webhook is asked is the server's own affair. */
const readOther = async (run: CaseRun, group: string, reviews: readonly Any[]) => {
  const path = at(run, `${group}/v1/shapes`);
  await run.prepare({ path, body: shape(group, "v1", "a", {}) });
  await run.call({ path: at(run, `${group}/v2/shapes`, "a") });
  run.note("what the webhook was asked last", 0, reviews.at(-1));
};

const wrong: readonly (readonly [string, (review: Any) => Body | number | string])[] = [
  ["it fails", () => ({ result: { status: "Failure", message: "cannot do it" } })],
  ["it fails without a word", () => ({ result: { status: "Failure" } })],
  ["no result", ({ request }) => ({ convertedObjects: request.objects })],
  ["another version", answering((object) => object)],
  ["another kind", answering((object, apiVersion) => ({ ...object, apiVersion, kind: "Other" }))],
  [
    "another name",
    answering((object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, name: "z" } })),
  ],
  [
    "another uid",
    answering((object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, uid: "z" } })),
  ],
  ["no metadata", answering((object, apiVersion) => ({ ...object, apiVersion, metadata: undefined }))],
  ["too few objects", () => ({ result: { status: "Success" }, convertedObjects: [] })],
  ["another question", (review) => ({ ...answering(converted)(review), uid: "other" })],
  ["no response", ({ apiVersion, kind }) => JSON.stringify({ apiVersion, kind })],
  [
    "another kind of answer",
    ({ request: { uid } }) => JSON.stringify({ apiVersion: "v1", kind: "Status", response: { uid } }),
  ],
  ["an error", () => 500],
  [
    "labels that are wrong",
    answering((object, apiVersion) => ({
      ...object,
      apiVersion,
      metadata: { ...object.metadata, labels: { "bad key": "x", good: "y" }, annotations: { added: "yes" } },
    })),
  ],
];

export const conversionCases: readonly ConformanceCase[] = [
  scenario("conversions: none but of the version", async (run) => {
    await defined(run, { strategy: "None" }, async (group) => await readAndWrite(run, group));
  }),
  withConversion("conversions: by a webhook", answering(converted), readAndWrite),
  withConversion(
    "conversions: fields that the version does not know",
    answering((object, apiVersion) => ({ ...converted(object, apiVersion), unknown: 1, status: { x: 1 } })),
    readOther,
  ),
  ...wrong.map(([what, answer]) => withConversion(`conversions: the answer is wrong: ${what}`, answer, readOther)),
];
