/** The types of discovery/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { ObjectMeta } from "../object.ts";
import type { ObjectReference } from "./core_v1.ts";

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly hostname?: string;
  readonly targetRef?: ObjectReference;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: EndpointHints;
}
export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}
export interface EndpointHints {
  readonly forZones?: readonly ForZone[];
  readonly forNodes?: readonly ForNode[];
}
export interface EndpointPort {
  readonly name?: string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly port?: number;
  readonly appProtocol?: string;
}
export interface EndpointSlice {
  readonly kind: "EndpointSlice";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints?: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}
export interface ForNode {
  readonly name: string;
}
export interface ForZone {
  readonly name: string;
}
