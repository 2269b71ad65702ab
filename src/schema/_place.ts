/**
 * Place: where in which definition the translation stands, so that whatever goes wrong names the field and what to
 * write instead. All complaints of this folder about a definition are made here.
 */

/** A position inside a resource definition. */
export interface Place {
  /** The kind that is being defined. */
  readonly kind: string;
  /** `spec.ports[].name`; "" at the root. */
  readonly path: string;
  /** Recursive schemas that are being translated right now: meeting one again means it has no end. */
  readonly open: ReadonlySet<unknown>;
  /** True where old and new values cannot be matched, so that a rule may not say oldSelf. */
  readonly uncorrelatable: boolean;
}

/** The place at which the definition of `kind` begins. */
export function rootPlace(kind: string): Place {
  return { kind, path: "", open: new Set(), uncorrelatable: false };
}

/** The place of a property. */
export function propertyOf(place: Place, name: string): Place {
  return { ...place, path: place.path === "" ? name : `${place.path}.${name}` };
}

/** The place of the items of a list, or of the values of a map. */
export function elementOf(place: Place, kind: "items" | "values"): Place {
  return { ...place, path: `${place.path}${kind === "items" ? "[]" : "{}"}` };
}

/** An error that says what stands at a place and what to do about it. */
export function cannotDefine(place: Place, state: string): TypeError {
  const subject = place.path === "" ? "it" : place.path;
  return new TypeError(`Cannot define ${place.kind}: ${subject} ${state}`);
}
