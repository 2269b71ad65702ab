/** The packages of types, by their short names. Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
import { text as text0 } from "./admissionregistration_v1.ts";
import { text as text1 } from "./apiextensions_v1.ts";
import { text as text2 } from "./apiregistration_v1.ts";
import { text as text3 } from "./apps_v1.ts";
import { text as text4 } from "./authentication_v1.ts";
import { text as text5 } from "./authorization_v1.ts";
import { text as text6 } from "./autoscaling_v1.ts";
import { text as text7 } from "./autoscaling_v2.ts";
import { text as text8 } from "./batch_v1.ts";
import { text as text9 } from "./certificates_v1.ts";
import { text as text10 } from "./coordination_v1.ts";
import { text as text11 } from "./core_v1.ts";
import { text as text12 } from "./discovery_v1.ts";
import { text as text13 } from "./events_v1.ts";
import { text as text14 } from "./flowcontrol_v1.ts";
import { text as text15 } from "./intstr_api.ts";
import { text as text16 } from "./meta_v1.ts";
import { text as text17 } from "./networking_v1.ts";
import { text as text18 } from "./node_v1.ts";
import { text as text19 } from "./policy_v1.ts";
import { text as text20 } from "./rbac_v1.ts";
import { text as text21 } from "./resource_api.ts";
import { text as text22 } from "./resource_v1.ts";
import { text as text23 } from "./runtime_api.ts";
import { text as text24 } from "./scheduling_v1.ts";
import { text as text25 } from "./storage_v1.ts";

/** A package: where its types stand in OpenAPI, and their text. */
export const packages: ReadonlyMap<string, { readonly fullName: string; readonly text: string }> = new Map([
  ["admissionregistration/v1", { fullName: "io.k8s.api.admissionregistration.v1", text: text0 }],
  ["apiextensions/v1", { fullName: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1", text: text1 }],
  ["apiregistration/v1", { fullName: "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1", text: text2 }],
  ["apps/v1", { fullName: "io.k8s.api.apps.v1", text: text3 }],
  ["authentication/v1", { fullName: "io.k8s.api.authentication.v1", text: text4 }],
  ["authorization/v1", { fullName: "io.k8s.api.authorization.v1", text: text5 }],
  ["autoscaling/v1", { fullName: "io.k8s.api.autoscaling.v1", text: text6 }],
  ["autoscaling/v2", { fullName: "io.k8s.api.autoscaling.v2", text: text7 }],
  ["batch/v1", { fullName: "io.k8s.api.batch.v1", text: text8 }],
  ["certificates/v1", { fullName: "io.k8s.api.certificates.v1", text: text9 }],
  ["coordination/v1", { fullName: "io.k8s.api.coordination.v1", text: text10 }],
  ["core/v1", { fullName: "io.k8s.api.core.v1", text: text11 }],
  ["discovery/v1", { fullName: "io.k8s.api.discovery.v1", text: text12 }],
  ["events/v1", { fullName: "io.k8s.api.events.v1", text: text13 }],
  ["flowcontrol/v1", { fullName: "io.k8s.api.flowcontrol.v1", text: text14 }],
  ["intstr/api", { fullName: "io.k8s.apimachinery.pkg.util.intstr", text: text15 }],
  ["meta/v1", { fullName: "io.k8s.apimachinery.pkg.apis.meta.v1", text: text16 }],
  ["networking/v1", { fullName: "io.k8s.api.networking.v1", text: text17 }],
  ["node/v1", { fullName: "io.k8s.api.node.v1", text: text18 }],
  ["policy/v1", { fullName: "io.k8s.api.policy.v1", text: text19 }],
  ["rbac/v1", { fullName: "io.k8s.api.rbac.v1", text: text20 }],
  ["resource/api", { fullName: "io.k8s.apimachinery.pkg.api.resource", text: text21 }],
  ["resource/v1", { fullName: "io.k8s.api.resource.v1", text: text22 }],
  ["runtime/api", { fullName: "io.k8s.apimachinery.pkg.runtime", text: text23 }],
  ["scheduling/v1", { fullName: "io.k8s.api.scheduling.v1", text: text24 }],
  ["storage/v1", { fullName: "io.k8s.api.storage.v1", text: text25 }],
]);
