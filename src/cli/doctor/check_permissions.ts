/**
 * The checks of permissions: may this user do everything that the controllers do? The rules are those that the controllers
 * declare, and those of `run` itself. Each verb of each rule is checked by a SelfSubjectAccessReview; what is missing is
 * printed as the rule to paste into a Role.
 */
import { type AccessGrant, controllerGrants, processGrants } from "../../manager/mod.ts";
import { providerGrants } from "../clusters/mod.ts";
import { configurationTargets } from "../../webhook/mod.ts";
import { exitCode, webhookServiceName } from "../command/mod.ts";
import { isAllowed, type ResourceAttributes } from "../connection/mod.ts";
import { resourceText } from "../output/mod.ts";
import { type Check, type DoctorContext, failed, ok, warning } from "./check.ts";

/** Concurrent reviews. */
const maxConcurrentReviews = 8;

/** Returns one check for each rule of each controller. */
export async function checkPermissions(context: DoctorContext): Promise<readonly Check[]> {
  const { connection: { client }, signal } = context;
  const requirements = requiredRules(context);
  const denied = new Map<RequiredRule, string[]>(requirements.map((requirement) => [requirement, []]));
  // What two controllers need is reviewed once.
  const reviews = new Map<string, Promise<boolean>>();
  const left = requirements.flatMap(reviewsOf).values();
  const worker = async () => {
    for (const { requirement, attributes } of left) {
      const key = JSON.stringify(attributes);
      const review = reviews.get(key) ?? isAllowed(client, attributes, signal);
      reviews.set(key, review);
      if (!(await review)) denied.get(requirement)?.push(attributes.verb);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentReviews }, worker));
  return requirements.map((requirement) => checkOf(requirement, denied.get(requirement) ?? []));
}

/** A rule that a part of this program needs. */
interface RequiredRule extends AccessGrant {
  /** Who needs the rule, when `run` works without it. */
  readonly optionalReason?: string;
}

interface Review {
  readonly requirement: RequiredRule;
  readonly attributes: ResourceAttributes;
}

/** Returns one review for each verb of a rule, and for each object that the rule names. */
function reviewsOf(requirement: RequiredRule): readonly Review[] {
  const { rule: { group, names, verbs, ...rule }, namespace } = requirement;
  const [resource = "", subresource] = rule.resource.split("/");
  return (names ?? [undefined]).flatMap((name) =>
    verbs.map((verb) => ({ requirement, attributes: { group, resource, subresource, verb, namespace, name } }))
  );
}

function checkOf(requirement: RequiredRule, denied: readonly string[]): Check {
  const { neededBy: subject, rule, namespace, optionalReason } = requirement;
  const names = rule.names === undefined ? "" : ` ${rule.names.join(", ")}`;
  const object = `${resourceText(rule)}${names}${namespace === undefined ? "" : ` in ${namespace}`}`;
  // In the order of the rule: the responses come in any order.
  const missing = rule.verbs.filter((verb) => denied.includes(verb));
  if (missing.length === 0) return { about: "permission", subject, ...ok(`${rule.verbs.join(", ")} ${object}`) };
  const state = `may not ${missing.join(", ")} ${object}`;
  const advice = adviceOn(requirement, missing);
  return {
    about: "permission",
    subject,
    ...(optionalReason === undefined
      ? failed(exitCode.permission, state, advice)
      : warning(`${state}: ${optionalReason}`, advice)),
  };
}

function adviceOn({ rule, namespace }: RequiredRule, verbs: readonly string[]): string {
  const role = namespace === undefined ? "a ClusterRole" : `a Role in ${namespace}`;
  const names = rule.names === undefined ? "" : `, resourceNames: ${yamlList(rule.names)}`;
  const text = `apiGroups: ${yamlList([rule.group])}, resources: ${yamlList([rule.resource])}${names}`;
  return `Add to ${role}: - {${text}, verbs: ${yamlList(verbs)}}`;
}

function yamlList(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;
}

/** Returns all rules, in the order of the controllers. */
function requiredRules(context: DoctorContext): readonly RequiredRule[] {
  const { controllers, namespaces, lease, ownNamespace: namespace, webhookConfiguration, session } = context;
  const { clusters, place, selectsNamespaces } = context;
  const ofControllers = controllers.flatMap((controller) => controllerGrants(controller, { namespaces, place }));
  if (place === "members") return ofControllers.map((grant) => ({ ...grant, optionalReason: optionalReasonOf(grant) }));
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  const { name } = session.operator;
  const targets = configurationTargets(webhooks, webhookConfiguration);
  return [
    ...ofControllers,
    ...(clusters === undefined ? [] : providerGrants(clusters)),
    ...processGrants({
      namespace,
      lease: lease.isUsed ? lease.name : undefined,
      isSharded: lease.isSharded,
      selectsNamespaces,
      webhooks: webhooks.length === 0 ? undefined : { targets, secret: webhookServiceName(name) },
    }),
  ].map((grant) => ({ ...grant, optionalReason: optionalReasonOf(grant) }));
}

function optionalReasonOf({ neededBy, rule }: AccessGrant): string | undefined {
  if (neededBy === "webhooks") return "only webhooks with managed certificates need it";
  if (!rule.resource.endsWith("/finalizers")) return undefined;
  return "only clusters with the admission plugin OwnerReferencesPermissionEnforcement need it";
}
