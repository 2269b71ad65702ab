/** The cases of the benchmark, in the order in which they run. */
import { apiserverCase } from "./apiserver.ts";
import { apiserverApplyCase } from "./apiserver_apply.ts";
import { apiserverMemoryCase } from "./apiserver_memory.ts";
import { apiserverStartCase } from "./apiserver_start.ts";
import { apiserverStoredCase } from "./apiserver_stored.ts";
import type { Case } from "./case.ts";
import { devCase } from "./dev.ts";
import { envtestStartCase, envtestSuiteCase } from "./envtest.ts";
import { fleetCase } from "./fleet.ts";
import { growthCase } from "./growth.ts";
import { hostileKubeconfigCase } from "./hostile_kubeconfig.ts";
import { hostileServerCase } from "./hostile_server.ts";
import { hostileConversionCase, hostileWebhookCase } from "./hostile_webhook.ts";
import { latencyCase } from "./latency.ts";
import { planCase } from "./plan.ts";
import { queueCase } from "./queue.ts";
import { reconcileCase } from "./reconcile.ts";
import { creatingReplicas, shardsCase, twoReplicas } from "./shards.ts";
import { simulateCase } from "./simulate.ts";
import { sizeCase } from "./size.ts";
import { startCase } from "./start.ts";
import { syncCase } from "./sync.ts";
import { typesCase, typesSubject } from "./types.ts";
import { webhookCase } from "./webhook.ts";

export type { Case, Facts, Outcome, Scale, Setting, Subject } from "./case.ts";
export { against, josdk, josdkSmall, kopf, ours, valuesOf } from "./case.ts";
export { bothSubject } from "./fleet.ts";
export { growthSubject, mostGrown } from "./growth.ts";
export { recordingSubject } from "./reconcile.ts";
export { creatingReplicas, twoReplicas, typesSubject };

/** Every case. */
export const cases: readonly Case[] = [
  syncCase,
  reconcileCase,
  latencyCase,
  queueCase,
  startCase,
  growthCase,
  planCase,
  simulateCase,
  fleetCase,
  shardsCase,
  webhookCase,
  apiserverCase,
  apiserverStartCase,
  apiserverMemoryCase,
  apiserverApplyCase,
  apiserverStoredCase,
  devCase,
  envtestStartCase,
  envtestSuiteCase,
  hostileWebhookCase,
  hostileConversionCase,
  hostileServerCase,
  hostileKubeconfigCase,
  typesCase,
  sizeCase,
];
