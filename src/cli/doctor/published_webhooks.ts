/** PublishedWebhook: a webhook as the API server knows it, from an admission configuration or the conversion of a CRD. */
import { builtin } from "../../api/mod.ts";
import { CrdResource } from "../../schema/mod.ts";
import { type ConfigurationTarget, isRepairCondition, type WebhookClientConfig } from "../../webhook/mod.ts";
import type { DoctorContext } from "./check.ts";
import { fromBase64 } from "../../runtime/mod.ts";

/** One webhook of a configuration. */
export interface PublishedWebhook {
  /** `conversion of NAME` for a conversion. */
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  /** PEM text of the trusted authorities; undefined: those of the system. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
  readonly failurePolicy: "Fail" | "Ignore";
  /** Whether it may be called without an effect. */
  readonly canDryRun: boolean;
  /** Whether it reviews only some objects of its kinds. */
  readonly isConditional: boolean;
  /** The group and version of its first rule. */
  readonly reviews: { readonly group: string; readonly version: string };
  /** The kind that it converts between versions; undefined for admission. */
  readonly converts?: {
    readonly plural: string;
    /** The served apiVersions. */
    readonly versions: readonly string[];
  };
}

/** The time limit of conversions, which have no setting (kube-apiserver `conversion/webhook_converter.go`). */
const conversionTimeoutMs = 30_000;

/** Reads the webhooks of a configuration; undefined when it is not installed. */
export async function readPublished(
  target: ConfigurationTarget,
  { connection: { client }, signal }: DoctorContext,
): Promise<readonly PublishedWebhook[] | undefined> {
  if (target.kind === "converting") return await readConversion(target.name, { client, signal });
  const found = target.kind === "mutating"
    ? await client.find(builtin.MutatingWebhookConfiguration, target.name, { signal })
    : await client.find(builtin.ValidatingWebhookConfiguration, target.name, { signal });
  if (found === undefined) return undefined;
  return (found.webhooks ?? []).map((webhook): PublishedWebhook => {
    const { name, clientConfig, timeoutSeconds = 10, failurePolicy, sideEffects } = webhook;
    const { objectSelector, matchConditions = [], rules: [rule] = [] } = webhook;
    const { matchLabels = {}, matchExpressions = [] } = objectSelector ?? {};
    const conditions = matchConditions.filter((condition) => !isRepairCondition(condition));
    return {
      name,
      clientConfig,
      ca: pemOf(clientConfig.caBundle),
      timeoutMs: timeoutSeconds * 1_000,
      failurePolicy: failurePolicy === "Ignore" ? "Ignore" : "Fail",
      canDryRun: sideEffects !== "Some" && sideEffects !== "Unknown",
      isConditional: Object.keys(matchLabels).length + matchExpressions.length + conditions.length > 0,
      reviews: { group: rule?.apiGroups?.[0] ?? "", version: rule?.apiVersions?.[0] ?? "" },
    };
  });
}

async function readConversion(
  name: string,
  { client, signal }: Pick<DoctorContext["connection"], "client"> & { readonly signal: AbortSignal },
): Promise<readonly PublishedWebhook[] | undefined> {
  const spec = (await client.find(CrdResource, name, { signal }))?.spec;
  if (spec?.conversion?.strategy !== "Webhook") return undefined;
  const { clientConfig } = spec.conversion.webhook;
  const { group, names: { plural } } = spec;
  const versions = spec.versions.filter(({ served }) => served).map((version) => version.name);
  return [{
    ...{
      name: `conversion of ${name}`,
      clientConfig,
      ca: pemOf(clientConfig.caBundle),
      timeoutMs: conversionTimeoutMs,
    },
    ...{ failurePolicy: "Fail", canDryRun: true, isConditional: false },
    reviews: { group, version: versions[0] ?? "" },
    converts: { plural, versions: versions.map((version) => `${group}/${version}`) },
  }];
}

/** Decodes the text of a CA bundle; undefined for none. */
export function pemOf(base64: string | undefined): string | undefined {
  if (base64 === undefined || base64 === "") return undefined;
  try {
    return new TextDecoder().decode(fromBase64(base64));
  } catch {
    return undefined;
  }
}
