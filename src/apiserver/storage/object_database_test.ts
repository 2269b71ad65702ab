/** Tests of the database of objects: what a restart finds, what is refused, and what waits. */
import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../runtime/mod.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { ObjectDatabase, StoredDataError } from "./object_database.ts";
import type { ObjectStorage } from "./storage.ts";

async function folder(): Promise<{ readonly path: string; readonly file: string } & AsyncDisposable> {
  const path = await mkdtemp("/tmp/pintle-objects-");
  return { path, file: join(path, "objects.db"), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

function configMap(name: string, data: Readonly<Record<string, string>> = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data };
}

function create(storage: ObjectStorage, name: string, data?: Readonly<Record<string, string>>): void {
  assert(storage.create("configmaps", "default", name, configMap(name, data)));
}

/** All that a storage has, as text. */
function contentOf(storage: ObjectStorage): readonly string[] {
  return [...storage.collections()].flatMap(({ collection }) => {
    const texts: string[] = [`${collection} ${storage.size(collection)}`];
    storage.snapshot(collection)?.scan("", ({ key, namespace, name, revision, json }) => {
      texts.push(`${key} ${namespace} ${name} ${revision} ${json}`);
      return true;
    });
    return texts;
  }).sort();
}

test("[140] an opened file has the objects, the revision and the settings with which it was closed", async () => {
  await using site = await folder();
  let before: readonly string[];
  {
    await using database = await ObjectDatabase.open(site.file);
    const { storage } = database;
    for (let index = 0; index < 100; index++) create(storage, `a-${index}`, { text: `é 😀 \u0000 \ud800 ${index}` });
    storage.create("namespaces", "", "zoo", { apiVersion: "v1", kind: "Namespace", metadata: { name: "zoo" } });
    const changed = storage.find("configmaps", "default", "a-7");
    const removed = storage.find("configmaps", "default", "a-99");
    assert(changed !== undefined && removed !== undefined);
    storage.update("configmaps", changed, configMap("a-7", { text: "new" }));
    storage.delete("configmaps", removed);
    await database.saveSettings({ token: "secret" });
    before = contentOf(storage);
  }
  await using database = await ObjectDatabase.open(site.file);
  const { storage } = database;
  assertEquals(contentOf(storage), before);
  assertEquals([storage.revision, database.storedRevision, database.settings], [103, 103, { token: "secret" }]);
  assertEquals(storage.create("configmaps", "default", "next", configMap("next"))?.revision, 104);
  assertEquals(storage.find("configmaps", "default", "a-99"), undefined);
});

test("[140] a watch goes on after a restart if its collection has not changed; else its version has expired", async () => {
  await using site = await folder();
  {
    await using database = await ObjectDatabase.open(site.file);
    create(database.storage, "a");
    create(database.storage, "b");
    database.storage.create("namespaces", "", "n", { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } });
  }
  await using database = await ObjectDatabase.open(site.file);
  const read = (after: number) => {
    using cursor = database.storage.watch("configmaps", { namespace: "", after, onChange: () => {} });
    return cursor.read();
  };
  assertEquals([read(1), read(2), read(3)], ["expired", "none", "none"]);
  assertEquals(database.storage.snapshot("configmaps", 1), undefined);
});

test("[140] stored() resolves when the file has the changes: a copy of the file at that moment has all of them", async () => {
  await using site = await folder();
  await using database = await ObjectDatabase.open(site.file);
  for (let index = 0; index < 5; index++) {
    create(database.storage, `first-${index}`);
    create(database.storage, `second-${index}`);
    assertEquals(database.storedRevision, index * 2);
    await database.stored();
    assertEquals([database.storedRevision, database.stored()], [index * 2 + 2, undefined]);
    const copy = join(site.path, `copy-${index}.db`);
    await copyFile(site.file, copy);
    await copyFile(`${site.file}-wal`, `${copy}-wal`);
    await using copied = await ObjectDatabase.open(copy);
    assertEquals(contentOf(copied.storage), contentOf(database.storage));
  }
});

test("[140] while the disk is full the changes wait, stored() fails with what to do, and later attempts succeed", async () => {
  await using site = await folder();
  let isFull = false;
  const open: typeof openDatabase = async (path, check) => {
    const database = await openDatabase(path, check);
    return {
      ...{ prepare: database.prepare.bind(database), execute: database.execute.bind(database) },
      sync: () => database.sync(),
      // The limit is set where a disk would be full: SQLite gives the same error.
      transaction: (work: () => void) => {
        const [{ page_count: pages = 0 } = {}] = database.prepare("PRAGMA page_count").rows();
        database.execute(`PRAGMA max_page_count = ${isFull ? Number(pages) : 1_000_000}`);
        database.transaction(work);
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  };
  {
    await using database = await ObjectDatabase.open(site.file, open);
    isFull = true;
    create(database.storage, "large", { text: "x".repeat(50_000) });
    const seen: string[] = [];
    const reached = database.reached(1).then(() => seen.push("reached"));
    await assertRejects(
      async () => await database.stored(),
      /no space is left on the disk\. Free some; the server conti/,
    );
    await assertRejects(async () => await database.stored(), /no space is left on the disk/);
    assertEquals([database.hasFailed, database.storedRevision, seen], [true, 0, []]);
    isFull = false;
    await database.stored();
    await reached;
    assertEquals([database.hasFailed, database.storedRevision, seen], [false, 1, ["reached"]]);
  }
  await using again = await ObjectDatabase.open(site.file);
  assertEquals(again.storage.size("configmaps"), 1);
});

test("[140] after a failed sync nothing is reported as stored any more, because nobody knows what is on the disk", async () => {
  await using site = await folder();
  let syncs = 0;
  const open: typeof openDatabase = async (path, check) => {
    const database = await openDatabase(path, check);
    return {
      ...{ prepare: database.prepare.bind(database), execute: database.execute.bind(database) },
      transaction: (work: () => void) => database.transaction(work),
      sync: () => ++syncs === 1 ? Promise.reject(new Error("EIO: i/o error, fdatasync")) : database.sync(),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  };
  await using database = await ObjectDatabase.open(site.file, open);
  create(database.storage, "a");
  for (let attempt = 0; attempt < 3; attempt++) {
    await assertRejects(async () => await database.stored(), /EIO.* Look at the disk, then start the server again/);
  }
  assertEquals([syncs, database.storedRevision], [1, 0]);
});

async function problemOf(file: string): Promise<string> {
  try {
    await using _database = await ObjectDatabase.open(file);
    return "none";
  } catch (error) {
    return error instanceof StoredDataError ? `${error.problem}: ${error.message}` : String(error);
  }
}

test("[140] the file of another program, of a newer version and of a newer table is refused and stays as it is", async () => {
  await using site = await folder();
  for (
    const [sql, problem] of [
      ["CREATE TABLE notes (text TEXT)", /^foreign: it is the database of another program$/],
      ["PRAGMA application_id = 5", /^foreign/],
      [
        "PRAGMA application_id = 1349416012; PRAGMA user_version = 2",
        /^newer: it has the format 2 of a newer version; this/,
      ],
      ["PRAGMA application_id = 1349416012; PRAGMA user_version = 0; CREATE TABLE x (y)", /^damaged/],
    ] as const
  ) {
    await rm(site.file, { force: true });
    {
      await using database = await openDatabase(site.file);
      // Most programs have no write-ahead log.
      database.execute(`PRAGMA journal_mode = DELETE; ${sql}`);
    }
    const before = await readFile(site.file);
    assertMatch(await problemOf(site.file), problem);
    assertEquals(await readFile(site.file), before);
  }
});

test("[140] a file with a changed byte is refused as damaged, or has every object as it was; it is never changed by opening it", async () => {
  await using site = await folder();
  {
    await using database = await ObjectDatabase.open(site.file);
    for (let index = 0; index < 200; index++) create(database.storage, `a-${index}`, { text: `${index} `.repeat(40) });
    database.storage.create("namespaces", "", "n", { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } });
    await database.saveSettings({ token: "secret", port: "1" });
  }
  const good = await readFile(site.file);
  let content: readonly string[];
  {
    await using database = await ObjectDatabase.open(site.file);
    content = contentOf(database.storage);
  }
  let refused = 0;
  const damagedFile = join(site.path, "damaged.db");
  // Every byte of the head, then one of each 97: the pages of the trees, their cells and the texts in them.
  const offsets = Array.from(good.keys()).filter((offset) => offset < 100 || offset % 97 === 0);
  for (const offset of offsets) {
    const bytes = new Uint8Array(good);
    bytes[offset] = (bytes[offset] ?? 0) ^ 0xff;
    await writeFile(damagedFile, bytes, { mode: 0o600 });
    try {
      await using database = await ObjectDatabase.open(damagedFile);
      assertEquals([offset, contentOf(database.storage), database.settings.token], [offset, content, "secret"]);
    } catch (error) {
      if (!(error instanceof Error) || error.name === "AssertionError") throw error;
      refused++;
    }
    await rm(`${damagedFile}-wal`, { force: true });
  }
  assert(refused > offsets.length / 2, `${refused} of ${offsets.length} are refused`);
});

test("[140] a log that ends in the middle of a commit has all commits before it", async () => {
  await using site = await folder();
  const copy = join(site.path, "copy.db");
  {
    await using database = await ObjectDatabase.open(site.file);
    create(database.storage, "a");
    await database.stored();
    await copyFile(site.file, copy);
    await copyFile(`${site.file}-wal`, `${copy}-wal`);
  }
  await appendFile(`${copy}-wal`, new Uint8Array(3_000).fill(7));
  await using database = await ObjectDatabase.open(copy);
  assertNotEquals(database.storage.find("configmaps", "default", "a"), undefined);
});
