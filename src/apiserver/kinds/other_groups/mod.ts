/** The kinds of the groups that have one or two kinds each. */
import type { KindGroup } from "../rules/mod.ts";
import { apiServiceDefaults, apiServiceRow, apiServiceRules } from "./api_services.ts";
import { definitionRow, extensionDefaults } from "./extensions.ts";
import {
  flowControlDefaults,
  flowSchemaRow,
  flowSchemaRules,
  priorityLevelRow,
  priorityLevelRules,
} from "./flow_control.ts";
import { leaseRow, leaseRules } from "./leases.ts";
import { priorityClassDefaults, priorityClassRow, priorityClassRules } from "./priority_classes.ts";
import { runtimeClassRow, runtimeClassRules } from "./runtime_classes.ts";
export { systemPriorities, systemPriorityClasses } from "./priority_classes.ts";

/** The kinds of the groups that have one or two kinds with rules of their own. */
export const otherKinds: KindGroup = {
  rules: {
    "Lease.coordination.k8s.io": leaseRules,
    "RuntimeClass.node.k8s.io": runtimeClassRules,
    "PriorityClass.scheduling.k8s.io": priorityClassRules,
    "FlowSchema.flowcontrol.apiserver.k8s.io": flowSchemaRules,
    "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io": priorityLevelRules,
    "APIService.apiregistration.k8s.io": apiServiceRules,
  },
  defaults: { ...priorityClassDefaults, ...flowControlDefaults, ...extensionDefaults, ...apiServiceDefaults },
  rows: {
    "leases.coordination.k8s.io": leaseRow,
    "runtimeclasses.node.k8s.io": runtimeClassRow,
    "priorityclasses.scheduling.k8s.io": priorityClassRow,
    "flowschemas.flowcontrol.apiserver.k8s.io": flowSchemaRow,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": priorityLevelRow,
    "apiservices.apiregistration.k8s.io": apiServiceRow,
    "customresourcedefinitions.apiextensions.k8s.io": definitionRow,
  },
};
