/**
 * The params of policies: objects of a custom kind that is defined once on each server and stays. A kube-apiserver follows the
 * params of a built-in kind by an informer that it shares between policies, and which stops for good when the last policy with
 * this paramKind is deleted; for a custom kind each use gets an informer of its own (`ensureParamsForPolicyLocked` of apiserver
 * `policy/generic`, Kubernetes 1.36).
 */
import type { CaseRun } from "../case_run.ts";
import type { Body } from "./_objects.ts";

const group = "params.conformance.example.com";

/** The `paramKind` of the policies of cases. */
export const paramKind: Body = { apiVersion: `${group}/v1`, kind: "PolicyParam" };

const schema: Body = {
  type: "object",
  properties: { data: { type: "object", additionalProperties: { type: "string" } } },
};

const definition: Body = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `policyparams.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "policyparams", singular: "policyparam", kind: "PolicyParam", listKind: "PolicyParamList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
};

/** Defines the kind, unless an earlier case has done so, and creates params in the namespace of the case. */
export async function prepareParams(
  run: CaseRun,
  params: readonly { readonly metadata: Body; readonly data: Body }[] = [],
): Promise<void> {
  await run.prepare({
    method: "PATCH",
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/policyparams.${group}?fieldManager=conformance`,
    type: "application/apply-patch+yaml",
    body: definition,
  });
  const path = `/apis/${group}/v1/namespaces/${run.namespace}/policyparams`;
  await run.until(path, (_, code) => code === 200);
  for (const body of params) await run.prepare({ path, body: { ...paramKind, ...body } });
}
