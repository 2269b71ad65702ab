/** The desired Ingress of a Service, or why it gets none: a pure function of the Service and the rules. */
import { type Desired, Ingress, manifest, type Service } from "../../mod.ts";
import { annotation, type Claim, readClaim } from "./claim.ts";
import { classOf, isAllowed, type Rules } from "./rules.ts";

/** Why a Service with the annotation gets no Ingress: the reasons of its Warning Events. */
type RejectionReason = "InvalidAnnotation" | "HostNotAllowed" | "ExternalName" | "NoPort";

/** The desired state for a Service: no annotation, an Ingress, or an invalid claim. */
export type DesiredIngress =
  | { readonly kind: "none" }
  | { readonly kind: "ingress"; readonly ingress: Desired<typeof Ingress> }
  | { readonly kind: "rejected"; readonly reason: RejectionReason; readonly note: string };

/** Returns the desired state for a Service. */
export function desiredIngress(service: Service, rules: Rules): DesiredIngress {
  const { annotations = {}, namespace = "" } = service.metadata;
  const value = Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined;
  if (value === undefined) return { kind: "none" };
  const reading = readClaim(value);
  if (reading.kind === "rejected") {
    const grammar = `it must be empty, "true" or host[/path]`;
    return rejected("InvalidAnnotation", `The annotation ${annotation} is invalid: ${reading.problem}; ${grammar}`);
  }
  const { claim } = reading;
  if (!isAllowed(rules, namespace, claim)) {
    return rejected("HostNotAllowed", `Services of this namespace may not claim ${claim.host}${claim.path}`);
  }
  // The author of an ExternalName chooses any name, inside or outside of the cluster.
  if (service.spec.type === "ExternalName") {
    return rejected("ExternalName", "An Ingress cannot lead to a Service of type ExternalName");
  }
  const port = portOf(service);
  if (port === undefined) {
    return rejected("NoPort", `The Service needs a TCP port 80, a single port, or a port named http`);
  }
  return { kind: "ingress", ingress: ingressFor(service, claim, { port, className: classOf(rules, namespace) }) };
}

function rejected(reason: RejectionReason, note: string): DesiredIngress {
  return { kind: "rejected", reason, note };
}

/** Port 80, else the only port, else the port named http. Only TCP ports, which HTTP needs. */
function portOf({ spec }: Service): number | undefined {
  const ports = (spec.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  const [only] = ports;
  if (ports.some(({ port }) => port === 80)) return 80;
  return ports.length === 1 ? only?.port : ports.find(({ name }) => name === "http")?.port;
}

/** Copies no label and no annotation of the Service: only the claim decides. */
function ingressFor(
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
