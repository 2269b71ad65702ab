/**
 * Operators of other frameworks, with the tests that their authors would write: kube-rs with the crate envtest, the Java
 * Operator SDK with kube-api-test, and kopf with pytest. A test runs them with the command line of the user.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { pythonPackages } from "./packaged.ts";
import { buildRustTests } from "./rust.ts";

const folder = import.meta.dirname ?? ".";

/** A project of a user, ready for its tests. Disposing removes what they write. */
export interface Operator extends Disposable {
  readonly cwd: string;
  /** With the user's home folder, for the caches of the tools, and a cache of our own for the folder of `envtest`. */
  readonly env: Readonly<Record<string, string>>;
}

/** An operator with kube-rs. Its tests are built, which takes minutes the first time. */
export async function rustOperator(): Promise<Operator> {
  const { path, env } = await buildRustTests();
  return operator(path, { ...env, RUST_TEST_NOCAPTURE: "1" });
}

/** Virtual machines that live for seconds: the second compiler, and the threads of the collector, cost more than they save. */
const shortLived = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto";

/** An operator with the Java Operator SDK; Maven builds it in each run. */
export function javaOperator(): Promise<Operator> {
  return Promise.resolve(operatorCopy("java-operator", { JAVA_TOOL_OPTIONS: shortLived }));
}

/** An operator with kopf. */
export async function pythonOperator(): Promise<Operator> {
  const packages = await pythonPackages("operator-python", join(folder, "python-operator/requirements.txt"));
  const path = [join(packages, "bin"), process.env["PATH"] ?? ""].join(delimiter);
  return operatorCopy("python-operator", { PATH: path, PYTHONPATH: packages });
}

/** For tools that write into their project. */
function operatorCopy(name: string, env: Readonly<Record<string, string>>): Operator {
  const { cwd, [Symbol.dispose]: remove, ...made } = operator(mkdtempSync(join(tmpdir(), `pintle-${name}-`)), env);
  cpSync(join(folder, name), cwd, { recursive: true });
  return {
    ...made,
    cwd,
    [Symbol.dispose]: () => {
      remove();
      rmSync(cwd, { recursive: true });
    },
  };
}

function operator(cwd: string, env: Readonly<Record<string, string>>): Operator {
  const cache = mkdtempSync(join(tmpdir(), "pintle-operator-cache-"));
  return {
    cwd,
    env: { HOME: homedir(), XDG_CACHE_HOME: cache, ...env },
    [Symbol.dispose]: () => rmSync(cache, { recursive: true }),
  };
}
