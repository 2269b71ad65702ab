/**
 * CustomResource: what `defineResource()` returns. A Resource like those of Kubernetes itself, so that clients, caches
 * and controllers take it as it is, plus what only its own schema knows: the CRD, validation, and how to make one.
 */
import type { DeepReadonly, ObjectMeta, Resource } from "../api/mod.ts";
import type { z } from "zod";
import type { Crd } from "./crd.ts";

/** The wire shape of one kind. */
export interface CustomObject<Kind extends string = string> {
  apiVersion: string;
  kind: Kind;
  metadata: ObjectMeta;
}

/** An object of the kind as the server returns it: defaults are set. */
export type OutputOf<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType> =
  & CustomObject<Kind>
  & { spec: z.output<Spec>; status?: z.output<Status> };

/** An object of the kind as people write it: what has a default may be left out, and so may apiVersion and kind. */
export type InputOf<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType> =
  & Partial<Pick<CustomObject<Kind>, "apiVersion" | "kind">>
  & { metadata: ObjectMeta; spec: z.input<Spec>; status?: z.input<Status> };

/** One thing that is wrong with a value. */
export interface ParseIssue {
  /** `spec.replicas`; "" for the object itself. */
  readonly path: string;
  readonly message: string;
}

/** What became of parsing a value. */
export type ParseResult<T> =
  | { readonly kind: "valid"; readonly object: T }
  | { readonly kind: "invalid"; readonly issues: readonly ParseIssue[] };

/** A kind defined by its own program. */
export interface CustomResource<T extends CustomObject = CustomObject, Input = unknown> extends Resource<T, T["kind"]> {
  /** The definition that `install-crds` applies. Deeply frozen. */
  readonly crd: Crd;
  /** Never set: it carries the type. */
  readonly _input?: Input;

  /**
   * The value as an object of this kind, with defaults set and unknown fields of spec and status gone, as the server
   * would store it. For input that the server has not seen; what it returned was validated on write.
   *
   * @throws TypeError when it is none; the message names each field.
   */
  parse(value: unknown): DeepReadonly<T>;

  /** As parse, with the outcome as a value. */
  safeParse(value: unknown): ParseResult<DeepReadonly<T>>;

  /**
   * A complete object from what must be said: apiVersion, kind and defaults are filled in. Sends nothing.
   *
   * @throws TypeError when a field is wrong.
   */
  make(input: DeepReadonly<Input>): DeepReadonly<T>;
}

/** The type of what one writes: `InferInput<typeof Foo>` has defaults optional, where `Infer` has them set. */
export type InferInput<R> = R extends { readonly _input?: infer Input } ? DeepReadonly<NonNullable<Input>> : never;
