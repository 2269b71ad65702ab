/**
 * The checks of the controllers' kinds: are the CustomResourceDefinitions installed, established and those of this program;
 * and do objects wait for a finalizer of a controller that does not run?
 */
import { type ComparedCrd, type Crd, crdChanges, type StoredCrd } from "../../schema/mod.ts";
import { isForbidden, isNotFound } from "../../client/mod.ts";
import { readCrd, staleVersionsOf, storedObjects } from "../crds/mod.ts";
import { CommandError, crdsOf, exitCode, webhookServiceName } from "../command/mod.ts";
import { isServed, operatorLabel } from "../connection/mod.ts";
import {
  type Check,
  type DoctorContext,
  failed,
  type Finding,
  ok,
  unknown,
  unknownIfForbidden,
  warning,
} from "./check.ts";
import { builtin, keyOf, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { approximateDuration, count } from "../output/mod.ts";

/** Returns one check for each definition of the controllers. */
export async function checkDefinitions(context: DoctorContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const { name } = context.session.operator;
  const address = { kind: "service", namespace: context.ownNamespace, name: webhookServiceName(name) } as const;
  for (const crd of crdsOf(context.controllers, address)) {
    const finding = await checkDefinition(crd, context);
    checks.push({ about: "definition", subject: crd.metadata.name, ...finding });
    if (crd.spec.conversion?.strategy !== "Webhook") continue;
    checks.push(...await checkOtherInstallations(crd, context));
  }
  return checks;
}

async function checkDefinition(crd: Crd, context: DoctorContext): Promise<Finding> {
  const { connection, session, signal } = context;
  const install = `Run: ${session.operator.name} install-crds`;
  try {
    const live = await readCrd(context, crd.metadata.name);
    return live === undefined
      ? failed(exitCode.crdMissing, "not installed", install)
      : compareWithOwn(live, crd, install);
  } catch (error) {
    if (!(error instanceof Error && isForbidden(error.cause))) throw error;
    // Not every user may read definitions, but every user may read discovery.
    const { group, names: { plural } } = crd.spec;
    for (const { name: version } of crd.spec.versions.filter(({ served }) => served)) {
      if (await isServed(connection, { group, version, plural }, signal)) continue;
      return failed(exitCode.crdMissing, `${group}/${version} is not served`, install);
    }
    return unknown("served; this user may not compare it with this program's definition");
  }
}

function compareWithOwn(live: StoredCrd, crd: Crd, install: string): Finding {
  if (live.metadata.deletionTimestamp !== undefined) {
    return failed(exitCode.crdMissing, "being deleted", "Wait until it is gone, then install it");
  }
  const isEstablished = live.status?.conditions?.some(({ type, status }) =>
    type === "Established" && status === "True"
  );
  if (isEstablished !== true) {
    return failed(exitCode.crdMissing, "not established", `See: kubectl describe crd ${crd.metadata.name}`);
  }
  for (const { name } of crd.spec.versions.filter(({ served }) => served)) {
    if (live.spec.versions.some((version) => version.name === name && version.served)) continue;
    return failed(exitCode.crdMissing, `the version ${name} is not served`, install);
  }
  if (crd.spec.conversion?.strategy === "Webhook" && live.spec.conversion?.strategy !== "Webhook") {
    return failed(exitCode.crdMissing, "the server does not convert between the versions", install);
  }
  const [change, ...more] = crdChanges(withoutConversion(live), withoutConversion(crd));
  if (change !== undefined) {
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    return warning(`differs from this program's definition: ${change.path}${others}`, `${install} --diff`);
  }
  const stale = staleVersionsOf(live);
  if (stale.length > 0) return warning(`installed, and objects may be stored in ${stale.join(", ")}`, install);
  return ok("installed, equal to this program's definition");
}

/**
 * Looks for a second installation. A definition has one conversion webhook for the whole cluster, so that the replicas of only
 * one installation convert the objects of all.
 */
async function checkOtherInstallations(crd: Crd, context: DoctorContext): Promise<readonly Check[]> {
  const { connection: { client }, session: { operator }, signal } = context;
  const live = await readCrd(context, crd.metadata.name).catch(() => undefined); // reported by the check before
  const conversion = live?.spec.conversion;
  const called = conversion?.strategy === "Webhook" ? conversion.webhook.clientConfig.service : undefined;
  if (called === undefined) return [];
  const others: string[] = [];
  const finding = await unknownIfForbidden(async () => {
    const labelSelector = `${operatorLabel}=${operator.name}`;
    const fieldSelector = `metadata.name=${webhookServiceName(operator.name)}`;
    const { items } = await client.listAll(builtin.Service, { labelSelector, fieldSelector, signal });
    const namespaces = items.map(({ metadata: { namespace = "" } }) => namespace);
    others.push(...namespaces.filter((namespace) => namespace !== called.namespace).sort());
    const advice = "Run the same version in all of them, or convert in one installation only";
    return warning(
      `converted by the installation in ${called.namespace} only, not by that in ${others.join(", ")}`,
      advice,
    );
  });
  return others.length === 0 ? [] : [{ about: "definition", subject: crd.metadata.name, ...finding }];
}

/** The conversion webhook belongs to the installation of the webhooks, not to the definition. */
function withoutConversion({ spec }: Pick<Crd | StoredCrd, "spec">): ComparedCrd {
  return { spec: { ...spec, conversion: undefined } };
}

/** A running controller may take this long to remove its finalizer. */
const maxFinalizingMs = 60_000;

/** Returns one check for each controller with a finalizer. */
export async function checkFinalizers(context: DoctorContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const controller of context.controllers) {
    if (controller.finalizer === undefined) continue;
    checks.push({
      about: "finalizer",
      subject: controller.finalizer,
      ...await checkFinalizer(controller, context),
    });
  }
  return checks;
}

async function checkFinalizer(controller: OperatorController, context: DoctorContext): Promise<Finding> {
  const { session } = context;
  const { finalizer = "", primary, name } = controller;
  const kind: Resource<KubeObject> = { ...primary, _type: undefined };
  const now = session.processEnvironment.clock.now();
  let [stuck, oldest, example] = [0, 0, ""];
  try {
    for await (const page of storedObjects(context, kind, { metadataOnly: true })) {
      for (const object of page) {
        const { deletionTimestamp, finalizers = [] } = object.metadata;
        const ageMs = now - Date.parse(deletionTimestamp ?? "");
        if (!finalizers.includes(finalizer) || !(ageMs > maxFinalizingMs)) continue;
        if (ageMs > oldest) [oldest, example] = [ageMs, keyOf(object)];
        stuck++;
      }
    }
  } catch (error) {
    if (isNotFound(error)) return unknown(`the server does not know ${resourceName(primary)}`);
    if (error instanceof CommandError && error.code === exitCode.permission) {
      return unknown(`${resourceName(primary)} may not be read`);
    }
    throw error;
  }
  if (stuck === 0) return ok(`blocks no deletion of ${resourceName(primary)}`);
  const state = `blocks the deletion of ${count(stuck, "object")}, ${example} for ${approximateDuration(oldest)}`;
  return warning(state, `Run: ${session.operator.name} run ${name}; its log shows errors of the cleanup`);
}
