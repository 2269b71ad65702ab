import { mkdtemp, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { DatabaseError, type DatabaseProblem, openDatabase } from "./database.ts";

async function folder(): Promise<{ readonly path: string; readonly file: string } & AsyncDisposable> {
  const path = await mkdtemp("/tmp/pintle-database-");
  return { path, file: join(path, "x.db"), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function problemOf(work: () => Promise<unknown>): Promise<DatabaseProblem | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return error.problem;
    throw error;
  }
}

test("a committed transaction is there when the file is opened again; one that throws has no effect", async () => {
  await using site = await folder();
  {
    await using database = await openDatabase(site.file);
    database.execute("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER)");
    const insert = database.prepare("INSERT INTO t VALUES (?, ?)");
    database.transaction(() => insert.run("one", 1));
    assertThrows(() =>
      database.transaction(() => {
        insert.run("two", 2);
        insert.run("one", 3);
      }), /UNIQUE/);
    database.transaction(() => insert.run("three", 3));
    await database.sync();
  }
  await using again = await openDatabase(site.file);
  const rows = [...again.prepare("SELECT a, b FROM t ORDER BY b").rows()].map(({ a, b }) => [a, b]);
  assertEquals(rows, [["one", 1], ["three", 3]]);
});

test("[security 6] the files of a database are for their owner only, whatever the umask", async () => {
  await using site = await folder();
  await using database = await openDatabase(site.file);
  database.execute("CREATE TABLE t (a TEXT)");
  await database.sync();
  for (const name of await readdir(site.path)) {
    assertEquals([name, (await stat(join(site.path, name))).mode & 0o777], [name, 0o600]);
  }
});

test("a database that is open is locked until it is closed", async () => {
  await using site = await folder();
  {
    await using _first = await openDatabase(site.file);
    assertEquals(await problemOf(() => openDatabase(site.file)), "locked");
  }
  await using _second = await openDatabase(site.file);
});

test("syncs at the same time share one handle of the log, which is closed with the database", async () => {
  if (await stat("/proc/self/fd").catch(() => undefined) === undefined) return; // only Linux lists open files there
  await using site = await folder();
  const openFiles = async () => {
    const targets = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
    return (await Promise.all(targets)).filter((target) => target.startsWith(site.path)).length;
  };
  {
    await using database = await openDatabase(site.file);
    database.execute("CREATE TABLE t (a TEXT)");
    const before = await openFiles();
    await Promise.all([database.sync(), database.sync(), database.sync()]);
    assertEquals(await openFiles() - before, 1);
  }
  assertEquals(await openFiles(), 0);
});

test("a file that is no database, a folder and a missing folder are errors that say so", async () => {
  await using site = await folder();
  await writeFile(site.file, "not a database, but longer than its header would be. ".repeat(100));
  assertEquals(await problemOf(() => openDatabase(site.file)), "damaged");
  assertEquals(await problemOf(() => openDatabase(site.path)), "not-writable");
  await assertRejects(() => openDatabase(join(site.path, "none", "x.db")), /ENOENT/);
});

test("a database without space says that it is full, and goes on when there is some", async () => {
  await using site = await folder();
  await using database = await openDatabase(site.file);
  database.execute("CREATE TABLE t (a TEXT); PRAGMA max_page_count = 8");
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  const fill = () => Promise.resolve(database.transaction(() => insert.run("x".repeat(100_000))));
  assertEquals(await problemOf(async () => await fill()), "full");
  database.execute("PRAGMA max_page_count = 1000");
  await fill();
  assertEquals([...database.prepare("SELECT count(*) AS n FROM t").rows()].map(({ n }) => n), [1]);
});
