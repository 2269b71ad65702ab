/**
 * What `simulate --command` reads besides its flags: the objects of --crds, the workloads of --workload, written or generated,
 * the samples, and the applications of --service.
 *
 * Guarantees: every error of a file names the file; nothing has been started when one is thrown.
 */
import { isJsonObject, type UntypedObject } from "../../api/mod.ts";
import { directoryOf, processFacts, resolvePath } from "../../runtime/mod.ts";
import {
  definitionsOf,
  type ForeignWorkload,
  generateWorkloads,
  isAnswersFile,
  parseServiceFlag,
  parseWorkload,
  RecordedAnswers,
  type ServiceStub,
  withSteps,
  WorkloadFileError,
} from "../../simulation/mod.ts";
import { type Call, CommandError, exitCode } from "../command/mod.ts";
import { readDocuments, type YamlFileDocument } from "../documents/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { SimulateFlags } from "./simulate_flags.ts";

/** The value of `--workload` for which there is no file. */
export const generatedWorkload = "generated";

/** The objects of `--crds`. */
export async function readObjects(call: Call<SimulateFlags>): Promise<readonly UntypedObject[]> {
  return await objectsOf(call.flags.crds, call);
}

const accessKinds: ReadonlySet<string> = new Set([
  ...["Namespace", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"],
]);

/** The roles and bindings of `--rbac`; its files may have other objects. @throws UsageError when none is for the program */
export async function readAccess(call: Call<SimulateFlags>): Promise<readonly UntypedObject[]> {
  const { rbac, programName } = call.flags;
  if (rbac.length === 0) return [];
  const objects = (await objectsOf(rbac, call)).filter(({ kind }) => accessKinds.has(kind));
  const accounts = new Set(objects.flatMap(boundAccounts));
  if (accounts.has(programName)) return objects;
  const state = accounts.size === 0
    ? "there are no bindings of ServiceAccounts"
    : `bound are ${[...accounts].join(", ")}`;
  throw new UsageError(
    `Cannot use the rules of --rbac for the ServiceAccount "${programName}": ${state}`,
    "Name the ServiceAccount of the program with --program-name NAMESPACE/NAME",
  );
}

/** The ServiceAccounts of a binding: `system/manager`. */
function boundAccounts(object: UntypedObject): readonly string[] {
  const subjects: unknown = Reflect.get(object, "subjects");
  if (!Array.isArray(subjects)) return [];
  return subjects.flatMap((subject: unknown) => {
    if (!isJsonObject(subject) || subject.kind !== "ServiceAccount") return [];
    return [`${subject.namespace ?? object.metadata.namespace ?? ""}/${subject.name}`];
  });
}

async function objectsOf(paths: readonly string[], call: Call<SimulateFlags>): Promise<readonly UntypedObject[]> {
  const objects: UntypedObject[] = [];
  for (const path of paths) {
    for (const document of await documentsOf(path, call)) {
      for (const item of itemsOf(document.value)) {
        if (!isUntypedObject(item)) throw cannotRead(`${document.name}:${document.line}`, "it is no Kubernetes object");
        objects.push(item);
      }
    }
  }
  return objects;
}

/** The objects of a List, or the object itself. */
function itemsOf(value: unknown): readonly unknown[] {
  if (!isJsonObject(value) || !`${value.kind}`.endsWith("List") || !Array.isArray(value.items)) return [value];
  return value.items;
}

function isUntypedObject(value: unknown): value is UntypedObject {
  return isJsonObject(value) && typeof value.apiVersion === "string" && typeof value.kind === "string" &&
    isJsonObject(value.metadata) && typeof value.metadata.name === "string";
}

/** The workloads of `--workload FILE|DIR|generated`. @param objects those of --crds */
export async function readWorkloads(
  call: Call<SimulateFlags>,
  objects: readonly UntypedObject[],
): Promise<readonly ForeignWorkload[]> {
  const { workload: path, only, steps } = call.flags;
  if (path === undefined) {
    throw new UsageError(
      "Cannot simulate the program: there is no workload",
      "Name its file with --workload, or use --workload generated",
    );
  }
  const all = path === generatedWorkload ? await generated(call, objects) : await written(path, call);
  const selected = only === undefined ? all : all.filter(({ name }) => name === only);
  if (selected.length > 0) return steps === undefined ? selected : selected.map((one) => shortened(one, steps));
  const names = all.map(({ name }) => `"${name}"`).join(", ");
  throw new UsageError(`Cannot find the workload "${only}": there are ${names}`);
}

function shortened(workload: ForeignWorkload, numbers: readonly number[]): ForeignWorkload {
  const count = workload.steps.length;
  const unknown = numbers.find((number) => number > count);
  if (unknown === undefined) return withSteps(workload, numbers);
  throw new UsageError(`Cannot perform step ${unknown}: the workload "${workload.name}" has ${count} steps`);
}

async function written(path: string, call: Call<SimulateFlags>): Promise<readonly ForeignWorkload[]> {
  const workloads: ForeignWorkload[] = [];
  for (const document of await documentsOf(path, call)) {
    try {
      workloads.push(
        await parseWorkload(document, {
          documentsOf: (named, file) => documentsOf(resolvePath(directoryOf(resolved(file)), named), call),
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkloadFileError)) throw error;
      throw new CommandError(error.message, { code: exitCode.usage, cause: error });
    }
  }
  return workloads;
}

/** Workloads from the schemas of the CRDs, and from the samples if there are any. */
async function generated(
  call: Call<SimulateFlags>,
  objects: readonly UntypedObject[],
): Promise<readonly ForeignWorkload[]> {
  const { sample, seed, maxSteps } = call.flags;
  const definitions = definitionsOf(objects);
  const samples = await objectsOf(sample, call);
  const { workloads, skipped } = generateWorkloads({ definitions, samples, seed, maxSteps, namespace: "default" });
  for (const problem of skipped) call.session.info(`Warning: no workload is generated for ${problem}`);
  if (workloads.length > 0) return workloads;
  const state = definitions.length === 0
    ? "--crds has no CustomResourceDefinition"
    : "the smallest objects that follow from the schemas are not valid";
  throw new UsageError(`Cannot generate workloads: ${state}`, "Name a valid object with --sample");
}

/** The applications of `--service`. */
export async function readServices(call: Call<SimulateFlags>): Promise<readonly ServiceStub[]> {
  const { service, forgetfulService } = call.flags;
  const stubs: ServiceStub[] = [];
  for (const text of service) {
    const parsed = parseServiceFlag(text);
    if (parsed === undefined) {
      throw new UsageError(
        `Cannot read --service "${text}": it is not NAME=COMMAND, NAME:PORT=COMMAND or NAME=FILE.yaml`,
      );
    }
    const { name, port, source } = parsed;
    const place = { name, ...(port === undefined ? {} : { port }), isForgetful: forgetfulService.includes(name) };
    if (!isAnswersFile(source)) stubs.push({ ...place, source: { kind: "program", command: source } });
    else {
      const answers = await answersOf(source, call);
      answers(); // an error of the file is one of the command line
      stubs.push({ ...place, source: { kind: "answers", answers } });
    }
  }
  const unknown = forgetfulService.find((name) => stubs.every((stub) => stub.name !== name));
  if (unknown !== undefined) throw new UsageError(`Cannot find the service "${unknown}": --service does not name it`);
  return stubs;
}

async function answersOf(path: string, call: Call<SimulateFlags>): Promise<() => RecordedAnswers> {
  const [document, second] = await documentsOf(path, call);
  if (document === undefined) throw cannotRead(path, "it is empty");
  if (second !== undefined) throw cannotRead(path, "it has more than one document");
  return () => {
    try {
      return RecordedAnswers.parse(document.value, path);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new CommandError(error.message, { code: exitCode.usage, cause: error });
    }
  };
}

function resolved(path: string): string {
  return resolvePath(processFacts().workingDirectory, path);
}

async function documentsOf(path: string, { session }: Call<SimulateFlags>): Promise<readonly YamlFileDocument[]> {
  return await readDocuments(path, { stdin: session.processEnvironment.stdin, cannotRead });
}

function cannotRead(place: string, state: string): CommandError {
  return new CommandError(`Cannot read "${place}": ${state}`, { code: exitCode.usage });
}
