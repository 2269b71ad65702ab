/**
 * The status of ValidatingAdmissionPolicies: it says which expressions do not fit the schemas of the kinds that the policy
 * matches. A policy is checked once for each generation, as in Kubernetes, so a later CustomResourceDefinition changes nothing.
 */
import { builtin, type KubeObject, printExactJson } from "../api/mod.ts";
import { checkPolicyTypes } from "../apiserver/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";

/** Writes the type checks of ValidatingAdmissionPolicies. */
export function policyStatusController(): ControllerDefinition {
  return controller("validatingadmissionpolicy-status-controller")
    .for(builtin.ValidatingAdmissionPolicy)
    .watches(builtin.CustomResourceDefinition, { to: () => [] })
    .reconcile(async (ctx) => {
      const policy = ctx.object;
      const { generation = 0 } = policy.metadata;
      if (generation <= (policy.status?.observedGeneration ?? 0)) return done;
      const definitions = ctx.list(builtin.CustomResourceDefinition, {}).map((definition) => plain(definition));
      const warnings = checkPolicyTypes(plain(policy), definitions);
      const hadWarnings = policy.status?.typeChecking?.expressionWarnings !== undefined;
      await ctx.patchStatus({
        observedGeneration: generation,
        // As after the server-side apply of kube-controller-manager, nothing is left of earlier warnings.
        typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : hadWarnings ? null : {},
      });
      return done;
    });
}

function plain(object: KubeObject) {
  return JSON.parse(printExactJson(object));
}
