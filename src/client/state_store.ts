/**
 * StateStore: a small value that an operator keeps in a ConfigMap or a Secret, with a zod schema: a cursor into another system,
 * numbers that were given out, the version of a migration. State that follows from objects belongs into their status.
 *
 * Guarantees: changes are optimistic, so that no change of another process is lost; what is read has the type of the schema;
 * the size is limited; other keys of the object stay as they are.
 * Caveats: the function that changes the value may be called more than once, also for a change whose response was lost. Every
 * call of `read()` and `update()` is a request.
 */
import type { z } from "zod";
import { builtin, parseExactJson, printLosslessJson } from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import { fromBase64, toBase64 } from "../runtime/mod.ts";
import { ApiError, isAlreadyExists, isNotFound } from "./api_error.ts";
import type { Client } from "./client.ts";
import { firstProblemOnly } from "./kubeconfig/mod.ts";
import { retryOnConflict } from "./retry.ts";

/** Options of a {@link StateStore}. */
export interface StateStoreOptions<Schema extends z.ZodType> {
  /** `namespace/name` of the object, which is created by the first `update()`. */
  readonly object: string;
  /** The kind of the object; a Secret for what only the operator may read. @default "ConfigMap" */
  readonly kind?: "ConfigMap" | "Secret";
  /** The key in the `data` of the object. @default "state" */
  readonly key?: string;
  /** The schema of the value, which must be JSON. New fields need a default, as stored values do not have them. */
  readonly schema: Schema;
  /** The value while none is stored. */
  readonly initial: z.output<Schema>;
  /** The most bytes of the value as JSON. @default 262144 (256 KiB); an object has at most 1 MiB */
  readonly maxBytes?: number;
  /** Attempts of one change while other processes change the value, too. @default 10 */
  readonly maxAttempts?: number;
  /** The time between two attempts. @default systemClock */
  readonly clock?: Clock;
  /** The jitter between two attempts. @default systemRandom */
  readonly random?: Random;
}

/** The object with the value, in the form that both kinds have. */
type Holder = builtin.ConfigMap | builtin.Secret;

/**
 * Thrown when a stored value does not fit the schema.
 *
 * @example
 * ```ts
 * import { StateError } from "@pintle/controller/client";
 *
 * const error = new StateError("shop/operator-state", "cursor: expected string");
 * console.assert(error.message.startsWith('Cannot use the state in "shop/operator-state": cursor: expected string. '));
 * ```
 */
export class StateError extends Error {
  /** The name of the class. */
  override readonly name = "StateError";

  /**
   * Creates the error.
   *
   * @param object `namespace/name` of the object.
   * @param reason What does not fit.
   */
  constructor(object: string, reason: string) {
    super(
      `Cannot use the state in "${object}": ${reason}. Give new fields a default in the schema, or delete the object`,
    );
  }
}

/**
 * A small value in a ConfigMap or a Secret.
 *
 * @example
 * ```ts
 * import { z } from "@pintle/controller";
 * import { StateStore } from "@pintle/controller/client";
 * import { World } from "@pintle/controller/testing";
 *
 * await using world = await World.start({ controllers: [], cluster: false });
 * const ports = new StateStore(world.client, {
 *   object: "default/allocated-ports",
 *   schema: z.record(z.string(), z.int()),
 *   initial: {},
 * });
 * // Calling the function twice gives the same result, so a lost response does no harm.
 * const allocate = (owner: string) =>
 *   ports.update((given) => ({ ...given, [owner]: given[owner] ?? 30_000 + Object.keys(given).length }));
 * await Promise.all([allocate("shop/a"), allocate("shop/b")]);
 * console.assert(new Set(Object.values(await ports.read())).size === 2);
 * ```
 */
export class StateStore<Schema extends z.ZodType> {
  readonly #client: Client;
  readonly #options: StateStoreOptions<Schema>;

  /**
   * Creates a store. It sends nothing until its first call.
   *
   * @param client Sends the requests: in a reconciler `ctx.client`, whose controller declares get, create and update of the kind.
   * @throws {RangeError} when `maxBytes` is not within 1 and 1 MiB, or `maxAttempts` is below 1
   * @throws {TypeError} when `object` is not `namespace/name`
   */
  constructor(client: Client, options: StateStoreOptions<Schema>) {
    const { maxBytes = defaultBytes, maxAttempts = 10, object } = options;
    if (!(maxBytes >= 1 && maxBytes <= 1024 * 1024)) {
      throw new RangeError(
        `Cannot create the state store "${object}": maxBytes ${maxBytes} is not within 1 and 1048576`,
      );
    }
    if (!(maxAttempts >= 1)) {
      throw new RangeError(`Cannot create the state store "${object}": maxAttempts ${maxAttempts} is below 1`);
    }
    if (!/^[^/]+\/[^/]+$/.test(object)) {
      throw new TypeError(`Cannot create the state store "${object}": it is not namespace/name`);
    }
    this.#client = client;
    this.#options = options;
  }

  /**
   * Reads the value from the API server; `initial` while none is stored.
   *
   * @throws {StateError} when the stored value does not fit the schema
   */
  async read(options: { readonly signal?: AbortSignal } = {}): Promise<z.output<Schema>> {
    return this.#valueOf(await this.#find(options.signal));
  }

  /**
   * Changes the value. While another process changes it at the same time, `change` is called again with the new value.
   *
   * @param change Returns the new value. It must do no harm when it is called twice, also with its own result. A value that
   * is equal to the old one is not written.
   * @returns The value that is stored now.
   * @throws {StateError} when the stored value, or the new one, does not fit the schema
   * @throws {RangeError} when the new value has more than `maxBytes`
   * @throws {TypeError} when the new value has a Map, a Set, or another part that JSON does not have
   * @throws {ApiError} `isConflict` when other processes were faster in all attempts
   */
  async update(
    change: (value: z.output<Schema>) => z.output<Schema> | Promise<z.output<Schema>>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<z.output<Schema>> {
    const { maxAttempts: attempts = 10, clock, random } = this.#options;
    const { signal } = options;
    return await retryOnConflict(async () => {
      const holder = await this.#find(signal);
      const value = this.#parsed(await change(this.#valueOf(holder)));
      const text = printLosslessJson(value, `store the state in "${this.#options.object}"`);
      if (text !== this.#textOf(holder)) await this.#write(holder, this.#bounded(text), signal);
      return value;
    }, { attempts, clock, random, signal });
  }

  async #find(signal: AbortSignal | undefined): Promise<Holder | undefined> {
    const { object, kind = "ConfigMap" } = this.#options;
    return await this.#client.find(builtin[kind], object, { signal });
  }

  #textOf(holder: Holder | undefined): string | undefined {
    const { key = "state", kind = "ConfigMap" } = this.#options;
    const text = holder?.data !== undefined && Object.hasOwn(holder.data, key) ? holder.data[key] : undefined;
    return text === undefined || kind === "ConfigMap" ? text : new TextDecoder().decode(fromBase64(text));
  }

  #valueOf(holder: Holder | undefined): z.output<Schema> {
    const text = this.#textOf(holder);
    // The caller may change what it gets in place.
    if (text === undefined) return structuredClone(this.#options.initial);
    let json: unknown;
    try {
      json = parseExactJson(text);
    } catch {
      throw new StateError(this.#options.object, "it is not JSON");
    }
    return this.#parsed(json);
  }

  #parsed(value: unknown): z.output<Schema> {
    const parsed = this.#options.schema.safeParse(value, firstProblemOnly);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const path = issue?.path.map(String).join(".") ?? "";
    throw new StateError(this.#options.object, `${path === "" ? "" : `${path}: `}${issue?.message ?? "it is invalid"}`);
  }

  #bounded(text: string): string {
    const { object, maxBytes = defaultBytes } = this.#options;
    const bytes = new TextEncoder().encode(text).length;
    if (bytes <= maxBytes) return text;
    throw new RangeError(
      `Cannot store the state in "${object}": ${bytes} bytes are more than ${maxBytes}. Keep less of it`,
    );
  }

  async #write(holder: Holder | undefined, text: string, signal: AbortSignal | undefined): Promise<void> {
    const { object, key = "state", kind = "ConfigMap" } = this.#options;
    const data = { ...holder?.data, [key]: kind === "Secret" ? toBase64(text) : text };
    const [namespace = "", name = ""] = object.split("/");
    try {
      if (holder !== undefined) await this.#client.update(builtin[kind], { ...holder, data }, { signal });
      else await this.#client.create(builtin[kind], { metadata: { namespace, name }, data }, { signal });
    } catch (error) {
      // Another process was faster: its value is the old one now, or none is, when it has deleted the object.
      const isOld = holder === undefined ? isAlreadyExists(error) : isNotFound(error);
      throw isOld ? conflictOf(error, `${holder === undefined ? "create" : "update"} the state in "${object}"`) : error;
    }
  }
}

const defaultBytes = 256 * 1024;

function conflictOf(cause: unknown, action: string): ApiError {
  return new ApiError({ code: 409, reason: "Conflict" }, { action, cause });
}
