/**
 * May the controllers do what they do? Each verb of each rule they need is asked about by a SelfSubjectAccessReview; what
 * is missing is named as the rule that would allow it, to be pasted into a Role.
 */
/* MERGED doctor/needed_rules.ts  What controllers need to be allowed, rule by rule and place by place: their declarations, and what `run` does besides. */
import { z } from "zod";
import { exitCode, webhookServiceName } from "../command/mod.ts";
import { resourceText } from "../output/mod.ts";
import { type Check, type DoctorContext, failed, ok, warning } from "./check.ts";
import {
  type AccessRule,
  controllerAccess,
  electionAccess,
  type OperatorController,
  webhookAccess,
} from "../../manager/mod.ts";
import { configurationTargets } from "../../webhook/mod.ts";

/** Reviews that are under way at the same time. */
const workers = 8;

const review = z.object({ status: z.object({ allowed: z.boolean() }) });

interface Question {
  readonly needed: RequiredRule;
  readonly verb: string;
  /** Of the object that is meant; undefined for all. */
  readonly name: string | undefined;
}

/** One check for each rule of each controller. */
export async function checkPermissions(context: DoctorContext): Promise<readonly Check[]> {
  const rules = requiredRules(context);
  const questions = rules.flatMap((needed) =>
    (needed.rule.names ?? [undefined]).flatMap((name) => needed.rule.verbs.map((verb) => ({ needed, verb, name })))
  );
  const denied = new Map<RequiredRule, string[]>(rules.map((needed) => [needed, []]));
  // What two controllers need is asked once.
  const answers = new Map<string, Promise<boolean>>();
  const left = questions.values();
  const worker = async () => {
    for (const question of left) {
      const key = JSON.stringify(attributesOf(question));
      const answer = answers.get(key) ?? isAllowed(question, context);
      answers.set(key, answer);
      if (!(await answer)) denied.get(question.needed)?.push(question.verb);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return rules.map((needed) => checkOf(needed, denied.get(needed) ?? []));
}

function checkOf(needed: RequiredRule, denied: readonly string[]): Check {
  const { who, rule, namespace, optionalReason } = needed;
  const what = resourceText(rule);
  const names = rule.names === undefined ? "" : ` ${rule.names.join(", ")}`;
  const where = `${what}${names}${namespace === undefined ? "" : ` in ${namespace}`}`;
  // Verbs come in the order in which rules have them, not in that of the answers.
  const missing = rule.verbs.filter((verb) => denied.includes(verb));
  const subject = who;
  if (missing.length === 0) return { about: "permission", subject, ...ok(`${rule.verbs.join(", ")} ${where}`) };
  const state = `may not ${missing.join(", ")} ${where}`;
  const advice = adviceOn(needed, missing);
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

function yamlList(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
}

function attributesOf({ needed: { rule, namespace }, verb, name }: Question): object {
  const [resource, subresource] = rule.resource.split("/");
  return { group: rule.group, resource, subresource, verb, namespace, name };
}

async function isAllowed(question: Question, { connection, signal }: DoctorContext): Promise<boolean> {
  const body = JSON.stringify({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: attributesOf(question) },
  });
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const text = await connection.client.raw(path, { method: "POST", body, signal });
  return review.parse(JSON.parse(text)).status.allowed;
}

/** Verbs on one resource in one place. */
interface RequiredRule {
  /** A controller, or a part of `run`. */
  readonly who: string;
  readonly rule: AccessRule;
  /** Where. @default everywhere */
  readonly namespace?: string;
  /** `run` works without it, save for what the reason says. */
  readonly optionalReason?: string;
}

/** All rules, in the order of the controllers. */
function requiredRules(context: DoctorContext): readonly RequiredRule[] {
  const { controllers, lease, ownNamespace: namespace } = context;
  return [
    ...controllers.flatMap((controller) => rulesOf(controller, context)),
    ...(lease.isEnabled ? electionAccess(lease.name).map((rule) => ({ who: "--leader-elect", rule, namespace })) : []),
    ...webhookRules(context),
  ];
}

function rulesOf(controller: OperatorController, { namespaces }: DoctorContext): readonly RequiredRule[] {
  return controllerAccess(controller).flatMap((rule) => {
    const optionalReason = rule.resource.endsWith("/finalizers")
      ? "only clusters with the admission plugin OwnerReferencesPermissionEnforcement ask for it"
      : undefined;
    return placesOf(rule, controller, namespaces)
      .map((namespace) => ({ who: controller.name, rule, namespace, optionalReason }));
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

function webhookRules({ controllers, session, ownNamespace }: DoctorContext): readonly RequiredRule[] {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  const { name } = session.operator;
  const rules = webhookAccess({ targets: configurationTargets(webhooks, name), secret: webhookServiceName(name) });
  if (webhooks.length === 0) return [];
  const optionalReason = "webhooks with certificates made here need it";
  return rules.map((rule) => {
    const namespace = rule.scope === "Cluster" ? undefined : ownNamespace;
    return { who: "webhooks", rule, namespace, optionalReason };
  });
}
