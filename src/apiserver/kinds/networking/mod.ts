/** The kinds of the groups networking.k8s.io and discovery.k8s.io. */
import type { KindGroup } from "../rules/mod.ts";
import { endpointSliceDefaults, endpointSliceRow, endpointSliceRules } from "./endpoint_slices.ts";
import { ingressClassDefaults, ingressClassRow, ingressClassRules, ingressRow, ingressRules } from "./ingresses.ts";
import { networkPolicyDefaults, networkPolicyRow, networkPolicyRules } from "./network_policies.ts";
import { ipAddressRow, ipAddressRules, serviceCidrRow, serviceCidrRules } from "./service_cidrs.ts";

/** The kinds of the groups networking.k8s.io and discovery.k8s.io. */
export const networkingKinds: KindGroup = {
  rules: {
    "Ingress.networking.k8s.io": ingressRules,
    "IngressClass.networking.k8s.io": ingressClassRules,
    "NetworkPolicy.networking.k8s.io": networkPolicyRules,
    "ServiceCIDR.networking.k8s.io": serviceCidrRules,
    "IPAddress.networking.k8s.io": ipAddressRules,
    "EndpointSlice.discovery.k8s.io": endpointSliceRules,
  },
  defaults: { ...ingressClassDefaults, ...networkPolicyDefaults, ...endpointSliceDefaults },
  rows: {
    "ingresses.networking.k8s.io": ingressRow,
    "ingressclasses.networking.k8s.io": ingressClassRow,
    "networkpolicies.networking.k8s.io": networkPolicyRow,
    "servicecidrs.networking.k8s.io": serviceCidrRow,
    "ipaddresses.networking.k8s.io": ipAddressRow,
    "endpointslices.discovery.k8s.io": endpointSliceRow,
  },
};
