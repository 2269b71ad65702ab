/**
 * Names of a kind: what follows from the kind's own name, and what the API server demands of each of them.
 * Source: apiextensions-apiserver `validation.go` and apimachinery `validation.go` of Kubernetes 1.36.
 */
import { cannotDefine, rootPlace } from "./_place.ts";
import type { CrdNames } from "./crd.ts";

/** The annotation that owners of k8s.io and kubernetes.io groups must give. */
export const approvalAnnotation = "api-approved.kubernetes.io";

/** Names as they were given. */
export interface GivenNames {
  readonly kind: string;
  readonly plural?: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** All names of a kind. @throws TypeError when the server would refuse one. */
export function namesOf(given: GivenNames): CrdNames {
  const { kind, shortNames = [], categories = [] } = given;
  const lower = kind.toLowerCase();
  const names = {
    kind,
    listKind: given.listKind ?? `${kind}List`,
    plural: given.plural ?? pluralOf(lower),
    singular: given.singular ?? lower,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  checkLabel(kind, "kind", lower);
  checkLabel(kind, "listKind", names.listKind.toLowerCase());
  for (const text of [names.plural, names.singular, ...shortNames, ...categories]) checkLabel(kind, "name", text);
  if (names.listKind === kind) throw cannotDefine(rootPlace(kind), "has the same kind and listKind");
  return names;
}

/** Refuses a version name the server would refuse. */
export function checkVersion(kind: string, version: string): void {
  checkLabel(kind, "version", version);
}

/** Refuses a group the server would refuse, or one that belongs to Kubernetes and lacks its annotation. */
export function checkGroup(kind: string, group: string, annotations: Readonly<Record<string, string>>): void {
  const isDomain = group.length <= 253 &&
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(group);
  if (!isDomain) {
    throw cannotDefine(rootPlace(kind), `has the group ${JSON.stringify(group)}, which must be a domain with a dot`);
  }
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  const approval = Object.hasOwn(annotations, approvalAnnotation) ? annotations[approvalAnnotation] : undefined;
  const isApproved = approval !== undefined && (approval.startsWith("unapproved") || URL.canParse(approval));
  if (!isApproved) {
    throw cannotDefine(
      rootPlace(kind),
      `is in the group ${group}, which belongs to Kubernetes; annotate it with ${approvalAnnotation}: ` +
        `the URL of the approval, or a reason that begins with "unapproved"`,
    );
  }
}

function checkLabel(kind: string, what: string, text: string): void {
  if (text.length > 63 || !/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(text)) {
    throw cannotDefine(
      rootPlace(kind),
      `has the ${what} ${JSON.stringify(text)}, which must be 1 to 63 letters, digits or hyphens, a letter first`,
    );
  }
}

/** The usual English plural, as `meta.UnsafeGuessKindToResource` makes it. */
function pluralOf(singular: string): string {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
