/** Paths, methods and media types of custom resources. A separate server inside kube-apiserver serves these. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, configMap } from "./_objects.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

function definition(group: string): Body {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      }],
    },
  };
}

/** A case with its own custom resource definition and one object, `a`. */
function thing(
  name: string,
  act: (run: CaseRun, path: string) => Promise<void>,
  traits: { readonly deliberate?: string } = {},
): ConformanceCase {
  return scenario(name, async (run) => {
    const group = `p${run.unique}.example.com`;
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await run.prepare({ path: definitions, body: definition(group) });
    const path = at(run, `${group}/v1/things`);
    const body = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec: { size: 3 } };
    try {
      await run.until(path, (_, code) => code === 200);
      await run.prepare({ path, body });
      await act(run, path);
    } finally {
      await run.prepare({ method: "DELETE", path: `${definitions}/things.${group}` }).catch(() => undefined);
    }
  }, traits);
}

const accepts = [
  "application/*",
  "application/yaml",
  "text/html",
  "text/plain, application/json;q=0.5",
  "application/json;pretty=1",
  "application/json;stream=watch",
  "application/json;as=Table;v=v2;g=meta.k8s.io",
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
];

const pick = (body: unknown) => typeof body === "string" ? body.length > 0 : body;

const representations = accepts.map((accept) =>
  thing(`Accept of a custom resource: ${accept}`, async (run, path) => {
    for (const name of ["/a", "", "/none"]) await run.call({ path: `${path}${name}`, accept, pick });
  })
);

const others: readonly ConformanceCase[] = [
  thing("methods that the path of a custom resource does not have", async (run, path) => {
    const body = configMap("b");
    await run.call({ method: "POST", path: `${path}/a`, body });
    await run.call({ method: "PUT", path, body });
    await run.call({ method: "PATCH", path, type: "application/merge-patch+json", body: {} });
    await run.call({ method: "PATCH", path: `${path}/a`, type: "application/strategic-merge-patch+json", body: {} });
    await run.call({ method: "PATCH", path: `${path}/a`, type: "text/plain", body: {} });
    await run.call({ method: "OPTIONS", path });
    await run.call({ method: "HEAD", path: `${path}/a` });
    await run.call({ method: "POST", path: `${path}/a/status`, body });
    await run.call({ method: "DELETE", path: `${path}/a/status` });
    await run.call({ path: `${path}/a/none` });
    await run.call({ path: `${path}/a/scale` });
    await run.call({ path: `${path}/a/status/more` });
    const everywhere = path.replace(/\/namespaces\/[^/]+/, "");
    await run.call({ path: `${everywhere}/a` });
    await run.call({ method: "DELETE", path: everywhere });
    await run.call({ method: "POST", path: everywhere, body });
    await run.call({ path: path.replace("/v1/", "/v2/") });
    await run.call({ path: path.replace("/things", "/nothings") });
  }),
  thing("content types of a custom resource's body", async (run, path) => {
    // Not application/vnd.kubernetes.protobuf: kube-apiserver 1.36.3 panics on such a body and resets the stream.
    const types = ["application/json; charset=utf-8", "text/plain", "x"];
    for (const type of types) await run.call({ path: `${path}?dryRun=All`, type, body: configMap("b") });
  }),
  thing("tables of a custom resource", async (run, path) => {
    for (const include of ["None", "Object", "Metadata", "Some"]) {
      await run.call({ path: `${path}/a?includeObject=${include}`, accept: table });
    }
    await run.call({ path: `${path}?includeObject=None`, accept: `${table},application/json` });
    await run.call({ path: `${path}/a/status?includeObject=None`, accept: table });
    await run.watch(`${path}?includeObject=None`, {
      count: 2,
      accept: table,
      act: async () => {
        const merge = "application/merge-patch+json";
        await run.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { spec: { size: 4 } } });
      },
    });
    for (const accept of ["application/yaml", "text/html"]) await run.watch(path, { count: 1, accept });
    await run.call({ method: "DELETE", path: `${path}/a`, accept: table });
  }),
];

export const customResourcePathCases: readonly ConformanceCase[] = [...representations, ...others];
