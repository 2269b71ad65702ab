/**
 * Place: the position in a resource definition that is being translated. Every error about a definition is made here,
 * so that each one names the field and says how to fix it.
 */

/** A position inside a resource definition. */
export interface Place {
  /** The kind that is being defined. */
  readonly kind: string;
  /** `spec.ports[].name`; "" at the root. */
  readonly path: string;
  /** Schemas around this place that can contain themselves. A second visit to one of them is an endless recursion. */
  readonly open: ReadonlySet<unknown>;
  /** True where the API server cannot match old and new values, so that a rule must not use oldSelf. */
  readonly uncorrelatable: boolean;
}

/** The root of the definition of `kind`. */
export function rootPlace(kind: string): Place {
  return { kind, path: "", open: new Set(), uncorrelatable: false };
}

/** The place of a property below `place`. */
export function propertyOf(place: Place, name: string): Place {
  return { ...place, path: place.path === "" ? name : `${place.path}.${name}` };
}

/** The place of the items of a list, or of the values of a map. */
export function elementOf(place: Place, kind: "items" | "values"): Place {
  return { ...place, path: `${place.path}${kind === "items" ? "[]" : "{}"}` };
}

/** The error for a definition: the field, its state, and how to fix it. */
export function cannotDefine(place: Place, state: string): TypeError {
  const subject = place.path === "" ? "it" : place.path;
  return new TypeError(`Cannot define ${place.kind}: ${subject} ${state}`);
}
