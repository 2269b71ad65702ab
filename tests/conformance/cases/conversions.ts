/** Custom resources in two versions: requests to a conversion webhook, and the effect of invalid responses. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { type Any, withWebhookServer } from "./_webhook_server.ts";
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

/** Creates the definition, runs a case when both versions are served, and deletes the definition. */
async function withDefinition(run: CaseRun, conversion: Body, act: (group: string) => Promise<void>): Promise<void> {
  const group = `s${run.unique}.example.com`;
  await run.prepare({ path: definitions, body: definition(group, conversion) });
  try {
    for (const version of ["v1", "v2"]) {
      await run.until(at(run, `${group}/${version}/shapes`), (_, code) => code === 200);
    }
    await act(group);
  } finally {
    await run.prepare({ method: "DELETE", path: `${definitions}/shapes.${group}` }).catch(() => undefined);
  }
}

const shape = (group: string, version: string, name: string, spec: Body): Body => ({
  apiVersion: `${group}/${version}`,
  kind: "Shape",
  metadata: { name },
  spec,
});

/** The conversion of one object by a webhook. */
type Convert = (object: Any, apiVersion: string) => Any;

const converted: Convert = (object, apiVersion) => ({
  ...object,
  apiVersion,
  spec: { ...object.spec, from: object.apiVersion.split("/")[1] },
});

const converting = (convert: Convert) => ({ request }: Any): Body => ({
  result: { status: "Success" },
  convertedObjects: request.objects.map((object: Any) => convert(object, request.desiredAPIVersion)),
});

function withConversion(
  name: string,
  respond: (review: Any) => Body | number | string,
  act: (run: CaseRun, group: string, reviews: readonly Any[]) => Promise<void>,
): ConformanceCase {
  return scenario(name, async (run) => {
    await withWebhookServer(respond, async ({ url, caBundle, reviews }) => {
      const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url, caBundle } };
      await withDefinition(run, { strategy: "Webhook", webhook }, (group) => act(run, group, reviews));
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

/** Creates in the stored version and reads in the other. Only the last request to the webhook is compared, because the servers call it a different number of times. */
const readOther = async (run: CaseRun, group: string, reviews: readonly Any[]) => {
  const path = at(run, `${group}/v1/shapes`);
  await run.prepare({ path, body: shape(group, "v1", "a", {}) });
  await run.call({ path: at(run, `${group}/v2/shapes`, "a") });
  run.note("last request to the webhook", 0, reviews.at(-1));
};

const invalidResponses: readonly (readonly [string, (review: Any) => Body | number | string])[] = [
  ["a failure", () => ({ result: { status: "Failure", message: "cannot do it" } })],
  ["a failure without a message", () => ({ result: { status: "Failure" } })],
  ["no result", ({ request }) => ({ convertedObjects: request.objects })],
  ["another version", converting((object) => object)],
  ["another kind", converting((object, apiVersion) => ({ ...object, apiVersion, kind: "Other" }))],
  [
    "another name",
    converting((object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, name: "z" } })),
  ],
  [
    "another uid",
    converting((object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, uid: "z" } })),
  ],
  ["no metadata", converting((object, apiVersion) => ({ ...object, apiVersion, metadata: undefined }))],
  ["too few objects", () => ({ result: { status: "Success" }, convertedObjects: [] })],
  ["the uid of another request", (review) => ({ ...converting(converted)(review), uid: "other" })],
  ["no response", ({ apiVersion, kind }) => JSON.stringify({ apiVersion, kind })],
  [
    "another kind of response",
    ({ request: { uid } }) => JSON.stringify({ apiVersion: "v1", kind: "Status", response: { uid } }),
  ],
  ["code 500", () => 500],
  [
    "invalid labels",
    converting((object, apiVersion) => ({
      ...object,
      apiVersion,
      metadata: { ...object.metadata, labels: { "bad key": "x", good: "y" }, annotations: { added: "yes" } },
    })),
  ],
];

export const conversionCases: readonly ConformanceCase[] = [
  scenario("conversion strategy None", async (run) => {
    await withDefinition(run, { strategy: "None" }, async (group) => await readAndWrite(run, group));
  }),
  withConversion("conversion strategy Webhook", converting(converted), readAndWrite),
  withConversion(
    "converted fields that the version does not have",
    converting((object, apiVersion) => ({ ...converted(object, apiVersion), unknown: 1, status: { x: 1 } })),
    readOther,
  ),
  ...invalidResponses.map(([what, respond]) =>
    withConversion(`an invalid response of a conversion webhook: ${what}`, respond, readOther)
  ),
];
