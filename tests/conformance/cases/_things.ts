/** A custom resource definition with a schema, for cases about bodies and patches: the kind Thing of a group of its own. */
import { type CaseTraits, type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const schema: Body = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        ratio: { type: "number" },
        name: { type: "string" },
        parts: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
        labels: { type: "object", additionalProperties: { type: "string" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
};

/** The definition of the kind Thing. */
export function thingDefinition(group: string, openAPIV3Schema: Body = schema): Body {
  return {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** The group and the path of the Things of a case. */
export interface Things {
  readonly group: string;
  readonly path: string;
  /** The resourceVersion of `a`. */
  readonly version: string;
  /** An object. */
  readonly thing: (name: string, spec?: Body) => Body;
}

/** A case with the definition of Things and one of them, `a`. */
export function withThings(
  name: string,
  act: (run: CaseRun, things: Things) => Promise<void>,
  { definition = thingDefinition, ...traits }: CaseTraits & { readonly definition?: (group: string) => Body } = {},
): ConformanceCase {
  return scenario(name, async (run) => {
    const group = `t${run.unique}.example.com`;
    await run.prepare({ path: definitions, body: definition(group) });
    const path = at(run, `${group}/v1/things`);
    // The group is different in each run: it comes last, so that no message which shows the start of a body has it.
    const thing = (name: string, spec: Body = { size: 3 }) => ({
      kind: "Thing",
      metadata: { name },
      spec,
      apiVersion: `${group}/v1`,
    });
    try {
      await run.until(path, (_, code) => code === 200);
      const { metadata } = await run.prepare({ path, body: thing("a") });
      await act(run, { group, path, thing, version: metadata.resourceVersion });
    } finally {
      await run.prepare({ method: "DELETE", path: `${definitions}/things.${group}` }).catch(() => undefined);
    }
  }, traits);
}
