/**
 * The shape of a kubeconfig file, checked where it enters. Source: client-go `clientcmd/api/v1` of Kubernetes 1.36.
 *
 * Unknown fields are ignored, as kubectl does. Go writes absent lists and maps as null, so null counts as absent. What a
 * check says never repeats a value: it may be a secret.
 */
import { z } from "zod";

const text = z.string().nullish().transform((value) => value || undefined);
const flag = z.boolean().nullish().transform((value) => value ?? false);

/** A list that Go may write as null. */
function listOf<T extends z.ZodType>(entry: T) {
  return z.array(entry).nullish().transform((value) => value ?? []);
}

/** An entry without content, as `user: null`. */
function orEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => value ?? {}, schema);
}

const texts = listOf(z.string());
const extensions = listOf(z.object({ name: z.string(), extension: z.unknown() }));

const cluster = z.object({
  "server": text,
  "tls-server-name": text,
  "insecure-skip-tls-verify": flag,
  "certificate-authority": text,
  "certificate-authority-data": text,
  "proxy-url": text,
  "extensions": extensions,
});

const context = z.object({ cluster: text, user: text, namespace: text });

const exec = z.object({
  apiVersion: text,
  command: text,
  args: texts,
  env: listOf(z.object({ name: z.string(), value: z.string().nullish().transform((value) => value ?? "") })),
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: text,
});

const user = z.object({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  "token": text,
  "tokenFile": text,
  "as": text,
  "as-uid": text,
  "as-groups": texts,
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish().transform((value) => value ?? {}),
  "username": text,
  "password": text,
  "auth-provider": z.object({
    name: z.string(),
    config: z.record(z.string(), z.string()).nullish().transform((value) => value ?? {}),
  }).nullish().transform((value) => value ?? undefined),
  "exec": exec.nullish().transform((value) => value ?? undefined),
});

/** A kubeconfig file as a schema. */
export const kubeconfigSchema = z.object({
  "apiVersion": z.literal("v1").nullish(),
  "kind": z.literal("Config").nullish(),
  "clusters": listOf(z.object({ name: z.string(), cluster: orEmpty(cluster) })),
  "contexts": listOf(z.object({ name: z.string(), context: orEmpty(context) })),
  "users": listOf(z.object({ name: z.string(), user: orEmpty(user) })),
  "current-context": text,
});

/** One cluster of a kubeconfig, keys as in the file. */
export type ClusterEntry = z.output<typeof cluster>;
/** One context of a kubeconfig. */
export type ContextEntry = z.output<typeof context>;
/** One user of a kubeconfig. Holds secrets. */
export type UserEntry = z.output<typeof user>;
/** The exec plugin of a user. */
export type ExecEntry = z.output<typeof exec>;

/** What an entry that is not there says. */
export const emptyCluster: ClusterEntry = cluster.parse({});
/** What an entry that is not there says. */
export const emptyContext: ContextEntry = context.parse({});
/** What an entry that is not there says. */
export const emptyUser: UserEntry = user.parse({});
