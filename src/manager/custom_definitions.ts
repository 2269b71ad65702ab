/**
 * customDefinitions(): the CustomResourceDefinitions of controllers as they are installed: each kind once, with the versions
 * of all resources that name it, and with its conversion webhook. Every path that installs or serves kinds uses it.
 *
 * Guarantees: a kind whose versions differ and that nothing converts is a TypeError, because an API server would show the
 * content of one version under the name of another; so is a version that the conversion does not know.
 */
import { apiVersionOf, printExactJson, type Resource, resourceName } from "../api/mod.ts";
import { isServedCondition } from "../controller/mod.ts";
import type { Crd, CrdVersion, CustomResource } from "../schema/mod.ts";
import { type ConversionWebhook, type WebhookAddress, webhookConfigurations } from "../webhook/mod.ts";
import type { OperatorController } from "./operator_controller.ts";

/** Options of {@link customDefinitions}. */
export interface DefinitionOptions {
  /** Where the API server calls conversion webhooks. @default the definitions name no conversion webhook */
  readonly address?: WebhookAddress;
  /** PEM text of the authorities of that address. @default none; whoever serves the webhooks publishes them */
  readonly caBundle?: string;
}

/** The parts of a controller that name kinds. */
type Source = Pick<OperatorController, "watches" | "webhooks">;

/** The parts of one kind, from all controllers. */
interface Kind {
  readonly resources: CustomResource[];
  readonly webhooks: Set<ConversionWebhook>;
}

/**
 * Returns the definitions of the kinds that controllers watch or convert, in the order of the controllers. The definition of
 * the conversion's hub decides; versions that it does not list are added, and not stored.
 *
 * @throws TypeError when a kind has several versions and its conversion is missing, incomplete or ambiguous
 */
export function customDefinitions(controllers: readonly Source[], options: DefinitionOptions = {}): readonly Crd[] {
  const kinds = new Map<string, Kind>();
  const kindOf = (resource: Resource): Kind => {
    const name = resourceName(resource);
    const known = kinds.get(name) ?? { resources: [], webhooks: new Set() };
    kinds.set(name, known);
    return known;
  };
  for (const { watches } of controllers) {
    for (const { resource, activation } of watches) {
      // What a controller waits for is installed by somebody else.
      if (activation !== undefined && isServedCondition(activation, resource)) continue;
      if (isCustomResource(resource)) kindOf(resource).resources.push(resource);
    }
  }
  for (const webhook of conversionsOf(controllers)) {
    const resources = webhook.resources.filter(isCustomResource);
    if (resources.length === 0) continue;
    const kind = kindOf(webhook.resource);
    kind.webhooks.add(webhook);
    // The hub comes first, because its definition decides.
    kind.resources.unshift(...resources);
  }
  return [...kinds.values()].map((kind) => definitionOf(kind, options));
}

/** True for a kind that carries its CustomResourceDefinition. */
export function isCustomResource(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}

/**
 * Adds the conversions of the kinds that `selected` watches, where another controller of the operator has them: a conversion
 * belongs to the kind, and whoever runs a part of the operator needs it.
 */
export function withConversions(
  selected: readonly OperatorController[],
  all: readonly OperatorController[],
): readonly OperatorController[] {
  const present = new Set(conversionsOf(selected));
  const missing = conversionsOf(all).filter((webhook) => !present.has(webhook));
  if (missing.length === 0) return selected;
  const left = new Set(missing);
  return selected.map((controller) => {
    const watched = new Set(controller.watches.map(({ resource }) => resourceName(resource)));
    const added = [...left].filter(({ resource }) => watched.has(resourceName(resource)));
    for (const webhook of added) left.delete(webhook);
    return added.length === 0 ? controller : { ...controller, webhooks: [...controller.webhooks ?? [], ...added] };
  });
}

function conversionsOf(controllers: readonly Source[]): readonly ConversionWebhook[] {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  return [...new Set(webhooks.filter((webhook) => webhook.kind === "converting"))];
}

function definitionOf({ resources, webhooks }: Kind, { address, caBundle }: DefinitionOptions): Crd {
  const crd = mergedDefinition(resources.map((resource) => resource.crd));
  const [webhook, ...others] = webhooks;
  if (others.length > 0) {
    throw cannotServe(crd, "it has two conversion webhooks", "Name all versions in one converting()");
  }
  if (webhook === undefined) assertEqualVersions(crd);
  else assertAllConverted(crd, webhook);
  if (webhook === undefined || address === undefined) return crd;
  const conversion = webhookConfigurations([webhook], { name: "", address, caBundle }).conversions.get(
    crd.metadata.name,
  );
  return { ...crd, spec: { ...crd.spec, conversion } };
}

/** The first definition, with the versions that only the others have. */
function mergedDefinition([first, ...others]: readonly Crd[]): Crd {
  if (first === undefined) throw new TypeError("Cannot serve a kind: it has no definition");
  const versions = new Map<string, CrdVersion>(first.spec.versions.map((version) => [version.name, version]));
  for (const version of others.flatMap(({ spec }) => spec.versions)) {
    const known = versions.get(version.name);
    if (known === undefined) versions.set(version.name, { ...version, storage: false });
    else if (!isSameSchema(known, version)) {
      throw cannotServe(
        first,
        `its version ${version.name} is defined twice, with different schemas`,
        "Define each version once, and use that resource everywhere",
      );
    }
  }
  if (versions.size === first.spec.versions.length) return first;
  return { ...first, spec: { ...first.spec, versions: [...versions.values()] } };
}

function isSameSchema(some: CrdVersion, other: CrdVersion): boolean {
  // defineResource() sorts the keys.
  return printExactJson(some.schema) === printExactJson(other.schema);
}

/** Without a conversion, the API server changes only the apiVersion: that is right where all versions are the same. */
function assertEqualVersions(crd: Crd): void {
  const { versions: [first, ...others], conversion } = crd.spec;
  if (conversion !== undefined || first === undefined) return;
  const other = others.find((version) => !isSameSchema(first, version));
  if (other === undefined) return;
  throw cannotServe(
    crd,
    `its versions ${first.name} and ${other.name} have different schemas, and no conversion is wired`,
    'Add converting(...) to a controller with withWebhooks(), or set conversion: { strategy: "None" } on the kind ' +
      "if all versions have the same content",
  );
}

function assertAllConverted(crd: Crd, webhook: ConversionWebhook): void {
  const { group, versions, conversion } = crd.spec;
  if (conversion?.strategy === "None") {
    throw cannotServe(crd, 'it has a conversion webhook, and conversion: { strategy: "None" }', "Remove one of them");
  }
  const unknown = versions.find(({ name }) => !webhook.apiVersions.includes(apiVersionOf({ group, version: name })));
  if (unknown === undefined) return;
  throw cannotServe(
    crd,
    `nothing converts its version ${unknown.name}`,
    `Add convertible(...) for ${unknown.name} to its converting(...)`,
  );
}

function cannotServe({ spec }: Crd, state: string, advice: string): TypeError {
  return new TypeError(`Cannot serve ${spec.names.kind}: ${state}. ${advice}`);
}
