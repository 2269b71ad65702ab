/**
 * ProgramWebhooks: the webhooks of an operator that is a program. Their configurations name a Service, whose Pods do not run
 * here, so calls go to the program itself on loopback. It serves with a certificate from a folder, as cert-manager and kubelet
 * would give it to a Pod, and the configurations trust its authority, as cert-manager's CA injector would make them.
 *
 * Guarantees: a webhook of a Service, also of one that the program configures later, reaches the program under the DNS name of
 * that Service; a caBundle that the program writes itself counts from then on.
 */
import { isJsonObject, type UntypedObject } from "../../api/mod.ts";
import { type CallWebhook, httpsWebhookCaller } from "../../apiserver/mod.ts";
import type { Clock } from "../../async/mod.ts";
import { joinPath, makeDirectory, toBase64, writeFile } from "../../runtime/mod.ts";
import { issueCertificates, type IssuedCertificates, serviceHosts } from "../../webhook/mod.ts";

/** Options of {@link ProgramWebhooks}. */
export interface ProgramWebhooksOptions {
  /** The objects that are created before the program starts. */
  readonly objects: readonly UntypedObject[];
  /** The host on which the program serves its webhooks: `127.0.0.1`. */
  readonly host: string;
  readonly clock: Clock;
}

/** Hours of validity. Simulations of a night are possible, and programs warn of certificates that expire soon. */
const lifetimeMs = 10 * 24 * 3_600_000;

/** A Service that a webhook is called by. */
export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
}

/** The webhooks of one program. */
export class ProgramWebhooks {
  /** What the program serves with. */
  readonly certificates: IssuedCertificates;
  readonly #clock: Clock;

  private constructor(certificates: IssuedCertificates, clock: Clock) {
    this.certificates = certificates;
    this.#clock = clock;
  }

  /** Issues the certificate for all Services of the objects. */
  static async create({ objects, host, clock }: ProgramWebhooksOptions): Promise<ProgramWebhooks> {
    const names = webhookServicesOf(objects).flatMap(serviceHosts);
    const hosts = [...new Set([...names, host, "localhost", "127.0.0.1"])];
    const certificates = await issueCertificates({ hosts, now: clock.now(), lifetimeMs });
    return new ProgramWebhooks(certificates, clock);
  }

  /**
   * How the API server of one run calls the webhooks.
   *
   * @param url where the program of the run serves them: `https://127.0.0.1:9443`
   */
  callerOf(url: () => string): CallWebhook {
    // One program serves all Services, also those of configurations that it creates itself.
    const services = new Map<string, string>();
    const call = httpsWebhookCaller({ clock: this.#clock, services });
    return (target, body, options) => {
      const { service } = target;
      if (service !== undefined) services.set(`${service.namespace}/${service.name}`, new URL(url()).origin);
      return call(target, body, options);
    };
  }

  /** The object as the server gets it: each webhook without an authority trusts that of the program. */
  withAuthority(object: UntypedObject): UntypedObject {
    const isInjected = Object.keys(object.metadata.annotations ?? {}).some((name) => injections.has(name));
    const trusted = (config: unknown) => this.#trusted(config, isInjected);
    if (isConfiguration(object)) {
      const webhooks = listOf(object.webhooks).map((one) => ({ ...one, clientConfig: trusted(one.clientConfig) }));
      return { ...object, webhooks };
    }
    const conversion = conversionOf(object);
    if (conversion === undefined) return object;
    const webhook = { ...conversion.webhook, clientConfig: trusted(conversion.webhook.clientConfig) };
    return { ...object, spec: { ...recordOf(object.spec), conversion: { ...conversion, webhook } } };
  }

  /** Writes `tls.crt`, `tls.key` and `ca.crt` into a folder, as a Secret volume has them. */
  async writeTo(folder: string): Promise<void> {
    const { ca, cert, key } = this.certificates;
    await makeDirectory(folder);
    await Promise.all([
      writeFile(joinPath(folder, "tls.crt"), cert),
      writeFile(joinPath(folder, "tls.key"), key),
      writeFile(joinPath(folder, "ca.crt"), ca),
    ]);
  }

  #trusted(config: unknown, isInjected: boolean): unknown {
    if (!isJsonObject(config)) return config;
    // Templates have a line break as a placeholder, which is `Cg==`.
    const isEmpty = ["", "Cg=="].includes(`${config.caBundle ?? ""}`);
    return isEmpty || isInjected ? { ...config, caBundle: toBase64(this.certificates.ca) } : config;
  }
}

/** The annotations by which cert-manager knows what it injects an authority into. */
const injections: ReadonlySet<string> = new Set([
  "cert-manager.io/inject-ca-from",
  "cert-manager.io/inject-ca-from-secret",
]);

/** The Services that the webhooks of configurations and the conversions of definitions are called by. */
export function webhookServicesOf(objects: readonly UntypedObject[]): readonly WebhookService[] {
  const configs = objects.flatMap((object): readonly unknown[] => {
    if (isConfiguration(object)) return listOf(object.webhooks).map(({ clientConfig }) => clientConfig);
    return [conversionOf(object)?.webhook.clientConfig];
  });
  const services = configs.flatMap((config): readonly WebhookService[] => {
    const service = isJsonObject(config) ? config.service : undefined;
    return isJsonObject(service) ? [{ namespace: `${service.namespace}`, name: `${service.name}` }] : [];
  });
  const isFirst = ({ namespace, name }: WebhookService, index: number) =>
    services.findIndex((one) => one.namespace === namespace && one.name === name) === index;
  return services.filter(isFirst);
}

function isConfiguration({ kind }: UntypedObject): boolean {
  return kind === "MutatingWebhookConfiguration" || kind === "ValidatingWebhookConfiguration";
}

/** The conversion of a definition by a webhook. */
function conversionOf({ kind, spec }: UntypedObject): { readonly webhook: JsonRecord } | undefined {
  if (kind !== "CustomResourceDefinition") return undefined;
  const conversion = recordOf(recordOf(spec).conversion);
  const { webhook } = conversion;
  return isJsonObject(webhook) ? { ...conversion, webhook } : undefined;
}

type JsonRecord = Readonly<Record<string, unknown>>;

function recordOf(value: unknown): JsonRecord {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
