/**
 * Gives `.meta({ ... })` of zod schemas the type of SchemaMeta. It is a file of its own, without exports, because a
 * registry for TypeScript packages rejects modules of the public surface that augment other modules. A package from such
 * a registry accepts any value in `.meta()`; defineResource() checks it in both cases.
 */
import type { SchemaMeta } from "./structural_schema.ts";

declare module "zod" {
  interface GlobalMeta extends SchemaMeta {}
}
