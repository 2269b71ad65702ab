/**
 * The conversion webhook in a definition: its address, and the certificate authorities that the API server trusts.
 *
 * Guarantees: an address that a local run has set stays until that run ends, and another URL stays for good; the namespace of
 * the Service stays unless the command line names one. The authorities are written apart from the definition, so that they
 * belong to the controllers, which renew them.
 */
import { builtin } from "../../api/mod.ts";
import { isForbidden } from "../../client/mod.ts";
import type { Crd, CrdConversion, StoredCrd } from "../../schema/mod.ts";
import { publishStoredAuthorities } from "../../webhook/mod.ts";
import { webhookServiceName } from "../command/mod.ts";
import { isConversionFailure } from "../connection/mod.ts";
import { commandFailure, type CrdContext, definitionName } from "./crd_context.ts";

type ClientConfig = Extract<CrdConversion, { strategy: "Webhook" }>["webhook"]["clientConfig"];

/** Returns the definition with the address that the live one has, where that must stay. @param namespace The one on the command line */
export function withLiveAddress(crd: Crd, live: StoredCrd | undefined, namespace: string | undefined): Crd {
  const [own, current] = [clientConfigOf(crd), live === undefined ? undefined : clientConfigOf(live)];
  if (own?.service === undefined || current === undefined) return crd;
  if (current.url !== undefined) return withClientConfig(crd, { url: current.url });
  if (namespace !== undefined || current.service?.name !== own.service.name) return crd;
  return withClientConfig(crd, { service: { ...own.service, namespace: current.service.namespace } });
}

function clientConfigOf({ spec: { conversion } }: Pick<StoredCrd, "spec">): ClientConfig | undefined {
  return conversion?.strategy === "Webhook" ? conversion.webhook.clientConfig : undefined;
}

function withClientConfig(crd: Crd, clientConfig: ClientConfig): Crd {
  const webhook = { conversionReviewVersions: ["v1"], clientConfig };
  return { ...crd, spec: { ...crd.spec, conversion: { strategy: "Webhook", webhook } } };
}

/**
 * Checks that a definition keeps the Service that converts its objects: a definition has one webhook for the whole cluster, so
 * that of two installations only one can convert.
 *
 * @throws CommandError when `crd` names another Service than the live definition, and that one exists
 */
export async function assertNoOtherInstallation(
  crd: Crd,
  live: StoredCrd | undefined,
  context: CrdContext,
): Promise<void> {
  const [own, current] = [clientConfigOf(crd)?.service, live === undefined ? undefined : clientConfigOf(live)?.service];
  if (own === undefined || current === undefined) return;
  if (own.namespace === current.namespace && own.name === current.name) return;
  const { connection: { client }, signal } = context;
  const key = `${current.namespace}/${current.name}`;
  try {
    if (await client.find(builtin.Service, key, { signal }) === undefined) return; // that installation was removed
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return context.session.info(`${definitionName(crd)}: Service ${key} converted it, which this user may not read`);
  }
  throw commandFailure(
    `Cannot install ${definitionName(crd)}: Service ${key} of another installation converts its objects`,
    `Leave --webhook-namespace out to keep it, or remove that installation first: kubectl delete service ${current.name} ` +
      `-n ${current.namespace}`,
  );
}

/** Writes the authorities of the controllers into a definition that has none, if the controllers have created them. */
export async function publishAuthorities(name: string, crd: StoredCrd, context: CrdContext): Promise<void> {
  const { connection: { client }, session, signal } = context;
  const { service, caBundle } = clientConfigOf(crd) ?? {};
  if (service === undefined || caBundle !== undefined || service.name !== webhookServiceName(session.operator.name)) {
    return;
  }
  const secret = `${service.namespace}/${service.name}`;
  const { clock } = session.processEnvironment;
  const targets = [{ kind: "converting", name } as const];
  const published = await publishStoredAuthorities({ client, secret, targets, clock, signal }).catch(
    (error: unknown) => {
      if (!isForbidden(error)) throw error;
    },
  );
  if (published !== undefined) return;
  const state = `the conversion webhook ${secret} has no certificate authority yet`;
  session.info(`${definitionName(crd)}: ${state}; the controllers add it when they run in the cluster`);
}

/** Runs a step that reads or writes objects. @throws CommandError with advice when the conversion webhook fails */
export async function withConversionAdvice<T>(crd: Crd, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isConversionFailure(error)) throw error;
    throw commandFailure(
      `Cannot migrate ${definitionName(crd)}: ${error.status.message}`,
      "The definition is installed. Run the controllers, which serve the webhook, then run the command again: it continues " +
        "where it stopped",
      error,
    );
  }
}
