/** Verb: what may be done to a resource, in the words of RBAC. */

/** All verbs, in the order in which rules name them. */
export const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;

/** One of them. */
export type Verb = (typeof verbs)[number];
