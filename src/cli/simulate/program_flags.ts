/** The flags of `simulate` for operators that are programs of their own. */
import { z } from "zod";
import { commandLineOnly, flag, text, wholeNumber } from "../flags/mod.ts";

const group = "Options for a program in any language:";

/** The numbers of steps, from 1: `1,4,5`. */
function stepNumbers() {
  return text().transform((typed, context) => {
    const numbers = typed.split(",").map((one) => /^[1-9]\d{0,4}$/.test(one.trim()) ? Number(one) : undefined);
    const known = numbers.filter((one) => one !== undefined);
    if (known.length === numbers.length) return known;
    context.addIssue({ code: "custom", message: "it is no list of step numbers, as 1,4,5" });
    return z.NEVER;
  });
}

/** The flags that only `simulate --command` has. */
export const programFlags = {
  command: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--command <command>",
    about: "simulate the operator that this command starts; {kubeconfig}, {port}, {dir} and others are replaced",
    example: '--command "./manager --kubeconfig {kubeconfig} --metrics-bind-address 127.0.0.1:{port}"',
    group,
  }),
  crds: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--crds <path>",
    about:
      "with --command: a file or folder with the CRDs, and with other objects that exist at the start; can be repeated",
    example: "--crds config/crd/bases",
    arity: "list",
    completes: "file",
    group,
  }),
  rbac: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--rbac <path>",
    about:
      "with --command: a file or folder with Roles and bindings; the program may do what they allow its ServiceAccount " +
      "(--program-name), and a request that they do not allow is a finding with the missing rule; can be repeated",
    example: "--rbac config/rbac",
    arity: "list",
    completes: "file",
    group,
  }),
  only: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--only <name>",
    about: "with --command: simulate only this one of the workloads",
    example: '--only "scale down"',
    group,
  }),
  steps: flag(stepNumbers().optional(), {
    ...commandLineOnly,
    flags: "--steps <numbers>",
    about: "with --command: perform only these steps of the workload, as a finding names them",
    example: "--steps 1,4,5",
    group,
  }),
  storms: flag(wholeNumber(0, 1_000_000).prefault("0"), {
    ...commandLineOnly,
    flags: "--storms <count>",
    about:
      "with --command: number of storms (random combinations of faults) for each workload; --seed is the first one",
    example: "--storms 20",
    group,
  }),
  withoutFaults: flag(wholeNumber(1, 100).optional(), {
    ...commandLineOnly,
    flags: "--without-faults <runs>",
    about:
      "with --command: run each workload so many times without faults, and nothing else; print the time of each step, " +
      "what the program uses, and in what the runs differ; a step that fails is exit code 1",
    example: "--without-faults 3",
    group,
  }),
  sample: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--sample <path>",
    about: "with --workload generated: valid objects whose fields are changed; can be repeated",
    example: "--sample config/samples/zoo.yaml",
    arity: "list",
    completes: "file",
    group,
  }),
  maxSteps: flag(wholeNumber(1, 10_000).prefault("60"), {
    ...commandLineOnly,
    flags: "--max-steps <count>",
    about: "with --workload generated: the most changes of fields; --seed chooses them",
    example: "--max-steps 200",
    group,
  }),
  service: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--service <name=stub>",
    about:
      "with --command: an application that the program talks to: a command that listens on $HOST and $PORT, or a " +
      "YAML file with answers; the program finds it by $NAME_HOST, $NAME_PORT and {service:name}; can be repeated",
    example: '--service "db:5432=./fake_db"',
    arity: "list",
    group,
  }),
  forgetfulService: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--forgetful-service <name>",
    about: "with --service: it loses its state when the program restarts; can be repeated",
    example: "--forgetful-service cache",
    arity: "list",
    group,
  }),
  webhookUrl: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--webhook-url <url>",
    about: "with --command: where the program serves its webhooks, with the certificate in {certs}",
    example: "--webhook-url https://127.0.0.1:9443",
    group,
  }),
  sharedNetwork: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--shared-network",
    about:
      "with --command: the program has the network of this machine; several --jobs then need {port} in the command",
    group,
  }),
  programName: flag(text().default("operator-system/operator"), {
    ...commandLineOnly,
    flags: "--program-name <namespace/name>",
    about: "with --command: the Deployment and ServiceAccount that the program is",
    example: "--program-name rabbitmq-system/rabbitmq-cluster-operator",
    group,
  }),
  serveRemoved: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--serve-removed <group/version>",
    about: "with --command: serve an API version that Kubernetes has removed, for an old program; can be repeated",
    example: "--serve-removed policy/v1beta1",
    arity: "list",
    group,
  }),
  host: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--host <name>",
    about:
      "with --command: a host name that leads to this machine for the program, such as a Service's; can be repeated",
    example: "--host db-client.default.svc.cluster.local",
    arity: "list",
    group,
  }),
  maxFindings: flag(wholeNumber(1, 1_000).prefault("3"), {
    ...commandLineOnly,
    flags: "--max-findings <count>",
    about: "with --command: leave a workload after this many findings",
    example: "--max-findings 10",
    group,
  }),
  fromStart: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--from-start",
    about: "with --command: always start with the first step of the workload",
    group,
  }),
  quietSeconds: flag(wholeNumber(1, 600).prefault("3"), {
    ...commandLineOnly,
    flags: "--quiet-seconds <seconds>",
    about: "with --command: how long nothing may change before a run without faults counts as at rest",
    example: "--quiet-seconds 10",
    group,
  }),
  startSeconds: flag(wholeNumber(1, 600).prefault("60"), {
    ...commandLineOnly,
    flags: "--start-seconds <seconds>",
    about: "with --command: how long the program may take until it watches",
    example: "--start-seconds 120",
    group,
  }),
} as const;
