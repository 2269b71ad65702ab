/** The Ingress that a Service asks for, or why it gets none. A pure function of the Service and the rules. */
import { type Desired, Ingress, manifest, type Service } from "../../mod.ts";
import { annotation, type Claim, readClaim } from "./claim.ts";
import { classOf, isAllowed, type Rules } from "./rules.ts";

/** Why a Service that asks for an Ingress gets none: the reasons of its Warning Events. */
export type RefusalReason = "InvalidAnnotation" | "HostNotAllowed" | "ExternalName" | "NoPort";

/** What a Service wants. */
export type Wish =
  | { readonly kind: "none" }
  | { readonly kind: "ingress"; readonly ingress: Desired<typeof Ingress> }
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly note: string };

/** What is to be there for a Service. */
export function wishOf(service: Service, rules: Rules): Wish {
  const { annotations = {}, namespace = "" } = service.metadata;
  const value = Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined;
  if (value === undefined) return { kind: "none" };
  const reading = readClaim(value);
  if (reading.kind === "refused") {
    const grammar = `it is to be empty, "true" or host[/path]`;
    return refused("InvalidAnnotation", `The annotation ${annotation} is not understood: ${reading.why}; ${grammar}`);
  }
  const { claim } = reading;
  if (!isAllowed(rules, namespace, claim)) {
    return refused("HostNotAllowed", `Services of this namespace may not claim ${claim.host}${claim.path}`);
  }
  // It stands for any name its author likes, inside the cluster or out of it: not for an Ingress to lead to.
  if (service.spec.type === "ExternalName") {
    return refused("ExternalName", "An Ingress does not lead to a Service of type ExternalName");
  }
  const port = portOf(service);
  if (port === undefined) {
    return refused("NoPort", `The Service has no TCP port 80, not one port only, and none named http`);
  }
  return { kind: "ingress", ingress: desiredIngress(service, claim, { port, className: classOf(rules, namespace) }) };
}

/** Port 80 where there is one, else the only one, else the one named http. HTTP goes over TCP. */
export function portOf({ spec }: Service): number | undefined {
  const ports = (spec.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP").map(({ port, name }) => ({
    port,
    name,
  }));
  const [only] = ports;
  if (ports.some(({ port }) => port === 80)) return 80;
  return ports.length === 1 ? only?.port : ports.find(({ name }) => name === "http")?.port;
}

/** Names nothing but what the claim says: no label and no annotation of the Service comes along. */
export function desiredIngress(
  service: Service,
  { host, path }: Claim,
  { port, className }: { readonly port: number; readonly className: string },
): Desired<typeof Ingress> {
  const { name = "", namespace } = service.metadata;
  const backend = { service: { name, port: { number: port } } };
  return manifest(Ingress, {
    metadata: { name, namespace },
    spec: {
      ingressClassName: className,
      rules: [{ host, http: { paths: [{ path, pathType: "Prefix", backend }] } }],
    },
  });
}

function refused(reason: RefusalReason, note: string): Wish {
  return { kind: "refused", reason, note };
}
