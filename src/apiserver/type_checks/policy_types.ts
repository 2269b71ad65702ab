/**
 * checkPolicyTypes(): type checks the expressions of a ValidatingAdmissionPolicy against the kinds that it matches. The policy
 * works the same with and without warnings. As `admission/plugin/policy/validating/typechecking.go` of Kubernetes 1.36.
 */
import { compositionOf } from "../admission/mod.ts";
import { type CelEnvironment, type CelType, environmentOf } from "../../cel/mod.ts";
import { findObject, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { type KindType, KindTypes } from "./kind_types.ts";

/** An item of `status.typeChecking.expressionWarnings`. */
export interface ExpressionWarning {
  /** `spec.validations[0].expression`. */
  readonly fieldRef: string;
  readonly warning: string;
}

/** Kinds of one rule after which no more are checked. */
const maxKinds = 10;

/**
 * Checks the types of a policy.
 *
 * @param definitions the CustomResourceDefinitions of the API server
 * @returns the warnings, one for each expression that fails for one of the kinds; the message names each kind
 */
export function checkPolicyTypes(policy: JsonObject, definitions: readonly JsonObject[]): readonly ExpressionWarning[] {
  const spec = objectAt(policy, "spec");
  const environments = environmentsOf(spec, new KindTypes(definitions));
  return objectsAt(spec, "validations").flatMap((validation, index) =>
    ["expression", "messageExpression"].flatMap((key) => {
      const warning = textAt(validation, key) === "" ? "" : warningOf(textAt(validation, key), environments);
      return warning === "" ? [] : [{ fieldRef: `spec.validations[${index}].${key}`, warning }];
    })
  );
}

interface TypedEnvironment {
  readonly kind: KindType;
  readonly environment: CelEnvironment;
}

function warningOf(expression: string, environments: readonly TypedEnvironment[]): string {
  return environments.flatMap(({ kind, environment }) => {
    const compiled = environment.compile(expression);
    if (compiled.kind !== "failed") return [];
    return [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${compiled.message}\n`];
  }).join("\n");
}

function environmentsOf(spec: JsonObject, kinds: KindTypes): readonly TypedEnvironment[] {
  const params = paramsType(spec, kinds);
  const variables = objectsAt(spec, "variables");
  return kindsToCheck(spec, kinds).flatMap((kind) => {
    const object = kind.type();
    if (object === undefined) return [];
    const declared = {
      hasParams: findObject(spec, "paramKind") !== undefined,
      hasAuthorizer: true,
      typed: { object, ...(params === undefined ? {} : { params }) },
    };
    return [{ kind, environment: environmentOf({ ...declared, composed: compositionOf(variables, declared).types }) }];
  });
}

function paramsType(spec: JsonObject, kinds: KindTypes): CelType | undefined {
  const { apiVersion, kind } = objectAt(spec, "paramKind");
  const parts = `${apiVersion}`.split("/");
  const [group, version] = parts.length === 2 ? parts : ["", parts[0]];
  return kinds.find(group ?? "", version ?? "", `${kind}`)?.type();
}

/** The kinds that the rules name, sorted. Rules with wildcards name none. */
function kindsToCheck(spec: JsonObject, kinds: KindTypes): readonly KindType[] {
  const found = new Map<string, KindType>();
  for (const rule of objectsAt(objectAt(spec, "matchConstraints"), "resourceRules")) {
    const [groups, versions] = [textsAt(rule, "apiGroups"), textsAt(rule, "apiVersions")];
    if ([...groups, ...versions].some((name) => name.includes("*"))) continue;
    const resources = textsAt(rule, "resources").filter((name) => !/[*/]/.test(name)).toSorted();
    const named = groups.toSorted().flatMap((group) =>
      versions.toSorted().flatMap((version) =>
        resources.flatMap((resource) => kinds.ofResource(group, version, resource).toSorted(inOrder))
      )
    );
    for (const kind of named.slice(0, maxKinds)) found.set(`${kind.group}/${kind.version}/${kind.kind}`, kind);
    if (named.length >= maxKinds) break;
  }
  return [...found.values()].toSorted(inOrder);
}

function inOrder(left: KindType, right: KindType): number {
  for (const key of ["group", "version", "kind"] as const) {
    if (left[key] !== right[key]) return left[key] < right[key] ? -1 : 1;
  }
  return 0;
}
