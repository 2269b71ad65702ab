/** What controllers need to be allowed, rule by rule and place by place: their declarations, and what `run` does besides. */
import {
  type AccessRule,
  controllerAccess,
  electionAccess,
  type OperatorController,
  webhookAccess,
} from "../../manager/mod.ts";
import { configurationTargets } from "../../webhook/mod.ts";
import { webhookServiceName } from "../webhooks_of.ts";
import type { Examination } from "./examination.ts";

/** Verbs on one resource in one place. */
export interface NeededRule {
  /** A controller, or a part of `run`. */
  readonly who: string;
  readonly rule: AccessRule;
  /** Where. @default everywhere */
  readonly namespace?: string;
  /** `run` works without it, save for what the reason says. */
  readonly unlessWanted?: string;
}

/** All rules, in the order of the controllers. */
export function neededRules(examination: Examination): readonly NeededRule[] {
  const { controllers, lease, ownNamespace: namespace } = examination;
  return [
    ...controllers.flatMap((controller) => rulesOf(controller, examination)),
    ...(lease.isWanted ? electionAccess(lease.name).map((rule) => ({ who: "--leader-elect", rule, namespace })) : []),
    ...webhookRules(examination),
  ];
}

function rulesOf(controller: OperatorController, { namespaces }: Examination): readonly NeededRule[] {
  return controllerAccess(controller).flatMap((rule) => {
    const unlessWanted = rule.resource.endsWith("/finalizers")
      ? "only clusters with the admission plugin OwnerReferencesPermissionEnforcement ask for it"
      : undefined;
    return placesOf(rule, controller, namespaces)
      .map((namespace) => ({ who: controller.name, rule, namespace, unlessWanted }));
  });
}

function placesOf(
  { scope, namespace }: AccessRule,
  { options }: OperatorController,
  namespaces: readonly string[],
): readonly (string | undefined)[] {
  if (scope === "Cluster") return [undefined];
  if (namespace !== undefined) return [namespace];
  return namespaces.length > 0 ? namespaces : [options.namespace];
}

function webhookRules({ controllers, session, ownNamespace }: Examination): readonly NeededRule[] {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  const { name } = session.operator;
  const rules = webhookAccess({ targets: configurationTargets(webhooks, name), secret: webhookServiceName(name) });
  if (webhooks.length === 0) return [];
  const unlessWanted = "webhooks with certificates made here need it";
  return rules.map((rule) => {
    const namespace = rule.scope === "Cluster" ? undefined : ownNamespace;
    return { who: "webhooks", rule, namespace, unlessWanted };
  });
}
