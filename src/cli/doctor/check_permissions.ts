/**
 * May the controllers do what they do? Each verb of each rule they need is asked about by a SelfSubjectAccessReview; what
 * is missing is named as the rule that would allow it, to be pasted into a Role.
 */
import { z } from "zod";
import { exitCode } from "../exit_code.ts";
import { resourceText } from "../resource_text.ts";
import { broken, type Check, ok, warning } from "./check.ts";
import type { Examination } from "./examination.ts";
import { type NeededRule, neededRules } from "./needed_rules.ts";

/** Reviews that are under way at the same time. */
const workers = 8;

const review = z.object({ status: z.object({ allowed: z.boolean() }) });

interface Question {
  readonly needed: NeededRule;
  readonly verb: string;
  /** Of the object that is meant; undefined for all. */
  readonly name: string | undefined;
}

/** One check for each rule of each controller. */
export async function checkPermissions(examination: Examination): Promise<readonly Check[]> {
  const rules = neededRules(examination);
  const questions = rules.flatMap((needed) =>
    (needed.rule.names ?? [undefined]).flatMap((name) => needed.rule.verbs.map((verb) => ({ needed, verb, name })))
  );
  const denied = new Map<NeededRule, string[]>(rules.map((needed) => [needed, []]));
  // What two controllers need is asked once.
  const answers = new Map<string, Promise<boolean>>();
  const left = questions.values();
  const worker = async () => {
    for (const question of left) {
      const key = JSON.stringify(attributesOf(question));
      const answer = answers.get(key) ?? isAllowed(question, examination);
      answers.set(key, answer);
      if (!(await answer)) denied.get(question.needed)?.push(question.verb);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return rules.map((needed) => checkOf(needed, denied.get(needed) ?? []));
}

function checkOf(needed: NeededRule, denied: readonly string[]): Check {
  const { who, rule, namespace, unlessWanted } = needed;
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
    ...(unlessWanted === undefined
      ? broken(exitCode.permission, state, advice)
      : warning(`${state}: ${unlessWanted}`, advice)),
  };
}

function adviceOn({ rule, namespace }: NeededRule, verbs: readonly string[]): string {
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

async function isAllowed(question: Question, { connection, signal }: Examination): Promise<boolean> {
  const body = JSON.stringify({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: attributesOf(question) },
  });
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const text = await connection.client.raw(path, { method: "POST", body, signal });
  return review.parse(JSON.parse(text)).status.allowed;
}
