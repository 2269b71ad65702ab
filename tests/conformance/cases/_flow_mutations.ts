/** Bad FlowSchemas and PriorityLevelConfigurations, ServiceCIDRs and IPAddresses, for declared.ts. */
import { many, type MutatedKind } from "./_mutations.ts";
import type { Body } from "./_objects.ts";

const rule: Body = {
  subjects: [{ kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "default" } }],
  resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["default"] }],
  nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
};

const first = "spec.rules.0";
const [subject, resources, paths] = [
  `${first}.subjects.0`,
  `${first}.resourceRules.0`,
  `${first}.nonResourceRules.0`,
];

const flowSchema: MutatedKind = {
  what: "a FlowSchema",
  path: () => "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
  good: (run) => ({
    metadata: { name: run.name("good") },
    spec: {
      matchingPrecedence: 500,
      priorityLevelConfiguration: { name: "workload-low" },
      distinguisherMethod: { type: "ByUser" },
      rules: [rule],
    },
  }),
  creates: [
    ["without a spec", { spec: undefined }],
    ["of precedence 1", { "spec.matchingPrecedence": 1 }],
    ["of a negative precedence", { "spec.matchingPrecedence": -1 }],
    ["of a precedence above the limit", { "spec.matchingPrecedence": 10_001 }],
    ["of an unknown distinguisher", { "spec.distinguisherMethod.type": "ByMood" }],
    ["of an empty distinguisher", { "spec.distinguisherMethod": {} }],
    ["without a level", { "spec.priorityLevelConfiguration": {} }],
    ["of a level with a bad name", { "spec.priorityLevelConfiguration.name": "Bad_Name" }],
    ["without subjects", { [`${first}.subjects`]: [] }],
    ["without rules in a rule", { [`${first}.resourceRules`]: [], [`${first}.nonResourceRules`]: undefined }],
    ["of an unknown kind of subject", { [`${subject}.kind`]: "Robot" }],
    ["of a user that is not given", { [`${subject}.kind`]: "User" }],
    ["of a group that is not given", { [`${subject}.kind`]: "Group" }],
    ["of a user without a name", { [subject]: { kind: "User", user: { name: "" } } }],
    ["of a group without a name", { [subject]: { kind: "Group", group: {} } }],
    ["of an account with a bad name", { [`${subject}.serviceAccount`]: { name: "A B", namespace: "Bad_Name" } }],
    ["of an account without names", { [`${subject}.serviceAccount`]: {} }],
    ["of an account and a user", { [`${subject}.user`]: { name: "a" }, [`${subject}.group`]: { name: "b" } }],
    ["with an unknown verb", { [`${resources}.verbs`]: ["get", "fly"] }],
    ["with all verbs and another", { [`${resources}.verbs`]: ["*", "get"] }],
    ["without verbs", { [`${resources}.verbs`]: [], [`${paths}.verbs`]: undefined }],
    ["without groups", { [`${resources}.apiGroups`]: [] }],
    ["with all groups and another", { [`${resources}.apiGroups`]: ["*", "apps"] }],
    ["with all resources and another", { [`${resources}.resources`]: ["pods", "*"] }],
    ["without resources", { [`${resources}.resources`]: [] }],
    ["without namespaces", { [`${resources}.namespaces`]: [] }],
    ["with a bad namespace", { [`${resources}.namespaces`]: ["default", "Bad.Name"] }],
    ["with all namespaces and another", { [`${resources}.namespaces`]: ["*", "default"] }],
    ["of bad paths", {
      [`${paths}.nonResourceURLs`]: ["", "/", "healthz", "/a b", "/a//b", "/a*", "/a/*/b", "/*/*", "/ok/*"],
    }],
    ["without paths", { [`${paths}.nonResourceURLs`]: [] }],
    ["with all paths and another", { [`${paths}.nonResourceURLs`]: ["*", "/a"] }],
    ["with the default precedence", { "spec.matchingPrecedence": undefined }],
    ["named as a mandatory one", { "metadata.name": "catch-all" }],
    ["with a bad name", { "metadata.name": "Bad_Name" }],
  ],
  updates: [
    ["to a bad level", { "spec.priorityLevelConfiguration.name": "Bad_Name" }],
    ["to precedence 1", { "spec.matchingPrecedence": 1 }],
    ["to no subjects", { [`${first}.subjects`]: [] }],
    ["to an unknown verb", { [`${paths}.verbs`]: ["fly"] }],
  ],
  statusUpdates: [
    ["with a condition twice", {
      "status.conditions": [{ type: "Dangling", status: "True" }, { type: "Dangling", status: "False" }],
    }],
    ["with a condition without a type", { "status.conditions": [{ status: "True" }] }],
  ],
  traits: { needsNamespace: false },
};

const limited = "spec.limited";
const response = `${limited}.limitResponse`;
const queuing = `${response}.queuing`;

const priorityLevel: MutatedKind = {
  what: "a PriorityLevelConfiguration",
  path: () => "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
  good: (run) => ({
    metadata: { name: run.name("good") },
    spec: {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 5,
        limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
      },
    },
  }),
  creates: [
    ["without a spec", { spec: undefined }],
    ["without a type", { "spec.type": undefined }],
    ["of an unknown type", { "spec.type": "Unlimited" }],
    ["of type Exempt", { "spec.type": "Exempt" }],
    ["without its limits", { "spec.limited": undefined }],
    ["with both members", { "spec.exempt": {} }],
    ["of negative shares", { [`${limited}.nominalConcurrencyShares`]: -1 }],
    ["of no shares", { [`${limited}.nominalConcurrencyShares`]: 0 }],
    ["that lends too much", { [`${limited}.lendablePercent`]: 101 }],
    ["that lends less than nothing", { [`${limited}.lendablePercent`]: -1 }],
    ["that borrows less than nothing", { [`${limited}.borrowingLimitPercent`]: -1 }],
    ["that borrows much", { [`${limited}.borrowingLimitPercent`]: 1_000 }],
    ["without a response", { [response]: undefined }],
    ["with an unknown response", { [`${response}.type`]: "Wait" }],
    ["that rejects with queues", { [`${response}.type`]: "Reject" }],
    ["that queues without queues", { [queuing]: undefined }],
    ["of negative queues", { [queuing]: { queues: -1, handSize: -1, queueLengthLimit: -1 } }],
    ["of too many queues", { [`${queuing}.queues`]: 10_000_001 }],
    ["of a hand larger than its queues", { [`${queuing}.handSize`]: 65 }],
    ["of a hand that needs too many bits", { [`${queuing}.handSize`]: 11 }],
    ["with default queues", { [queuing]: {} }],
    ["with the annotation of another version", {
      "metadata.annotations": { "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": "" },
    }],
    ["named exempt", { "metadata.name": "exempt" }],
    ["named catch-all", { "metadata.name": "catch-all" }],
    ["with a bad name", { "metadata.name": "Bad_Name" }],
  ],
  updates: [
    ["to an unknown type", { "spec.type": "Unlimited" }],
    ["to negative shares", { [`${limited}.nominalConcurrencyShares`]: -1 }],
    ["to no queues", { [queuing]: undefined }],
  ],
  statusUpdates: [
    ["with a condition twice", {
      "status.conditions": [{ type: "A", status: "True" }, { type: "A", status: "False" }, {}],
    }],
  ],
  traits: { needsNamespace: false },
};

const serviceCidr: MutatedKind = {
  what: "a ServiceCIDR",
  path: () => "/apis/networking.k8s.io/v1/servicecidrs",
  good: (run) => ({ metadata: { name: run.name("good") }, spec: { cidrs: ["192.0.2.0/24"] } }),
  creates: [
    ["without a spec", { spec: undefined }],
    ["without ranges", { "spec.cidrs": [] }],
    ["of three ranges", { "spec.cidrs": ["192.0.2.0/24", "2001:db8::/64", "198.51.100.0/24"] }],
    ["of an address", { "spec.cidrs": ["192.0.2.1"] }],
    ["of a word", { "spec.cidrs": ["range"] }],
    ["of an empty range", { "spec.cidrs": [""] }],
    ["of a range with bits beyond its length", { "spec.cidrs": ["192.0.2.1/24"] }],
    ["of a range with leading zeros", { "spec.cidrs": ["192.000.002.0/24"] }],
    ["of a length with leading zeros", { "spec.cidrs": ["192.0.2.0/024"] }],
    ["of a length that is too long", { "spec.cidrs": ["192.0.2.0/33"] }],
    ["of a mapped range", { "spec.cidrs": ["::ffff:192.0.2.0/120"] }],
    ["of a range in long form", { "spec.cidrs": ["2001:0db8:0::/64"] }],
    ["of a range in capitals", { "spec.cidrs": ["2001:DB8::/64"] }],
    ["of two IPv4 ranges", { "spec.cidrs": ["192.0.2.0/24", "198.51.100.0/24"] }],
    ["of two IPv6 ranges", { "spec.cidrs": ["2001:db8::/64", "2001:db8:1::/64"] }],
    ["of two bad ranges", { "spec.cidrs": ["x", "y"] }],
    ["of a good and a bad range", { "spec.cidrs": ["192.0.2.0/24", "y"] }],
    ["of the same range twice", { "spec.cidrs": ["192.0.2.0/24", "192.0.2.0/24"] }],
    ["of both families", { "spec.cidrs": ["192.0.2.0/24", "2001:db8::/64"] }],
    ["with a bad name", { "metadata.name": "Bad_Name" }],
    ["with a status", { "status.conditions": [{ type: "Ready", status: "True" }] }],
  ],
  updates: [
    ["to another range", { "spec.cidrs": ["198.51.100.0/24"] }],
    ["to no range", { "spec.cidrs": [] }],
    ["to a further range of its family", { "spec.cidrs": ["192.0.2.0/24", "198.51.100.0/24"] }],
    ["to two other ranges", { "spec.cidrs": ["2001:db8::/64", "192.0.2.0/24"] }],
    ["to three ranges", { "spec.cidrs": ["192.0.2.0/24", "2001:db8::/64", "198.51.100.0/24"] }],
    ["to a bad further range", { "spec.cidrs": ["192.0.2.0/24", "2001:db8::1/64"] }],
  ],
  traits: { needsNamespace: false },
};

const parent = "spec.parentRef";

const ipAddress: MutatedKind = {
  what: "an IPAddress",
  path: () => "/apis/networking.k8s.io/v1/ipaddresses",
  good: () => ({
    metadata: { name: "203.0.113.7" },
    spec: { parentRef: { group: "example.com", resource: "things", namespace: "default", name: "thing" } },
  }),
  creates: [
    ["without a spec", { spec: undefined }],
    ["without a parent", { "spec.parentRef": undefined }],
    ["with an empty parent", { "spec.parentRef": {} }],
    ["without a resource", { [`${parent}.resource`]: undefined }],
    ["without a name of its parent", { [`${parent}.name`]: "" }],
    ["of a bad group", { [`${parent}.group`]: "Bad_Group" }],
    ["of a bad resource", { [`${parent}.resource`]: "a/b%" }],
    ["of a bad name", { [`${parent}.name`]: ".." }],
    ["of a bad namespace", { [`${parent}.namespace`]: "a/b" }],
    ["of nothing that is good", { "spec.parentRef": { group: "-", resource: ".", namespace: "%", name: "/" } }],
    ["of the core group", { [`${parent}.group`]: "" }],
    ["of a cluster-scoped parent", { [`${parent}.namespace`]: undefined }],
    ["named by a word", { "metadata.name": "address" }],
    ["named by a range", { "metadata.name": "192.0.2.0/24" }],
    ["named with leading zeros", { "metadata.name": "203.000.113.007" }],
    ["named by a mapped address", { "metadata.name": "::ffff:203.0.113.7" }],
    ["named in long form", { "metadata.name": "2001:db8:0:0:0:0:0:1" }],
    ["named in capitals", { "metadata.name": "2001:DB8::1" }],
    ["named in canonical form", { "metadata.name": "2001:db8::1" }],
    ["named by too large numbers", { "metadata.name": "203.0.113.256" }],
    ["with a generated name", { "metadata.name": undefined, "metadata.generateName": "203.0.113." }],
    ["without a name", { "metadata.name": undefined }],
    ["with bad labels", { "metadata.labels": Object.fromEntries(many(1, () => ["bad key", "bad value!"])) }],
  ],
  updates: [
    ["to another parent", { [`${parent}.name`]: "other" }],
    ["to no parent", { "spec.parentRef": undefined }],
    ["to a bad parent", { [`${parent}.resource`]: "a/b" }],
  ],
  traits: { needsNamespace: false },
};

export const flowKinds: readonly MutatedKind[] = [flowSchema, priorityLevel, serviceCidr, ipAddress];
