/** The flags of `run` about what it serves: probes, metrics, webhooks. Nothing is served unless asked for. */
import { z } from "zod";
import { flagSyntax } from "./flag.ts";
import { text, wholeNumber } from "./flag_values.ts";

/** An address to listen on; undefined for none. */
export interface BindAddress {
  readonly hostname: string;
  readonly port: number;
}

const group = "Serving:";

/** `:8080` is all interfaces, `127.0.0.1:8080` one, `0` none: as controller-runtime has it. */
function bindAddress(): z.ZodType<BindAddress | undefined, string> {
  return z.string().transform((value, context) => {
    if (value === "0") return undefined;
    const [, hostname = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(value) ?? [];
    const port = Number(digits);
    if (digits !== "" && port <= 65_535) return { hostname: hostname.replace(/^\[|\]$/g, "") || "0.0.0.0", port };
    context.addIssue({ code: "custom", message: "it is neither host:port nor 0" });
    return z.NEVER;
  });
}

/** What is served where. */
export const servingFlags = z.object({
  healthProbeBindAddress: bindAddress().prefault("0").register(flagSyntax, {
    flags: "--health-probe-bind-address <address>",
    about: "serve /healthz, /livez and /readyz here; 0 is nowhere",
    example: "--health-probe-bind-address :8081",
    group,
    fromEnvironment: true,
  }),
  metricsBindAddress: bindAddress().prefault("0").register(flagSyntax, {
    flags: "--metrics-bind-address <address>",
    about: "serve /metrics here; beyond this machine it takes --cert-dir, and who asks is reviewed; 0 is nowhere",
    example: "--metrics-bind-address 127.0.0.1:8080",
    group,
    fromEnvironment: true,
  }),
  webhookPort: wholeNumber(0, 65_535).prefault("9443").register(flagSyntax, {
    flags: "--webhook-port <port>",
    about: "port of the webhooks, where they are served: in a cluster, with --cert-dir, or with --webhook-host",
    group,
    fromEnvironment: true,
  }),
  webhookHost: text().optional().register(flagSyntax, {
    flags: "--webhook-host <host>",
    about: "serve webhooks from this machine: the cluster is pointed at this name until the end, then back",
    example: "--webhook-host host.docker.internal",
    group,
    fromEnvironment: true,
  }),
  certDir: text().optional().register(flagSyntax, {
    flags: "--cert-dir <path>",
    about: "folder with tls.crt and tls.key for webhooks and metrics, instead of certificates made here",
    completes: "directory",
    group,
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type ServingFlags = z.output<typeof servingFlags>;
