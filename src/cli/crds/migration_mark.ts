/**
 * The mark of a storage migration that is under way, as an annotation of the definition: which version objects are
 * rewritten in, and from which resourceVersion on they were written in it anyway.
 *
 * It counts only for the generation it was made under: whatever changes the definition's spec, the storage version
 * among it, makes it worthless, and the migration begins anew.
 */
import { type ResourceVersion } from "../../api/mod.ts";
import { CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { z } from "zod";
import { asking, type CrdWork } from "./crd_work.ts";
import { storageVersionOf } from "./stored_objects.ts";

/** The annotation. */
export const migrationAnnotation = "pintle.dev/storage-migration";

const markText = z.object({ to: z.string(), generation: z.number(), since: z.string() });

/** How far a migration is. */
export type MigrationMark = Readonly<z.infer<typeof markText>>;

/** The mark of a migration that was begun under this very definition. */
export function readMark(crd: StoredCrd): MigrationMark | undefined {
  const text = crd.metadata.annotations?.[migrationAnnotation];
  if (text === undefined) return undefined;
  const parsed = markText.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { to, generation } = parsed.data;
  return to === storageVersionOf(crd) && generation === crd.metadata.generation ? parsed.data : undefined;
}

/** Leaves a mark. @param since Everything after it is stored in the new version */
export async function writeMark(crd: StoredCrd, since: ResourceVersion, work: CrdWork): Promise<MigrationMark> {
  const mark = { to: storageVersionOf(crd), generation: crd.metadata.generation ?? 0, since };
  await annotate(crd, JSON.stringify(mark), work);
  return mark;
}

/** Takes the mark away, if there is one. */
export async function clearMark(crd: StoredCrd, work: CrdWork): Promise<void> {
  if (crd.metadata.annotations?.[migrationAnnotation] !== undefined) await annotate(crd, null, work);
}

async function annotate(crd: StoredCrd, text: string | null, { connection, signal }: CrdWork): Promise<void> {
  const value = { metadata: { annotations: { [migrationAnnotation]: text } } };
  const key = crd.metadata.name ?? "";
  await asking(
    { resource: CrdResource, verbs: ["get", "create", "patch"] },
    () => connection.client.patch(CrdResource, key, { kind: "merge", value }, { signal }),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
