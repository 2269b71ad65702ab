/**
 * `deno task demo`: the main job from nothing. Builds and starts a real control plane (Go is needed for that, the
 * first time takes minutes), compiles the binary, and shows foo at work on it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { ControlPlane } from "../tests/controlplane/mod.ts";

const binary = "dist/controller";

await command("sh", ["compile.sh"]);
console.log("# starting etcd, kube-apiserver and kube-controller-manager");
await using cluster = await ControlPlane.start();
const env = { ...process.env, ...cluster.environment };

await command(binary, ["install-crds", "foo"], env);
await command("kubectl", ["apply", "-f", "examples/foo.yaml"], env);
console.log("$ controller run foo &");
const controller = spawn(binary, ["run", "foo"], { env, stdio: ["ignore", "inherit", "inherit"] });
await command("kubectl", ["wait", "deployment/example-foo", "--for=create", "--timeout=30s"], env);
await command("kubectl", ["get", "foos,deployments"], env);
console.log("# somebody scales the Deployment; foo puts it right");
await command("kubectl", ["scale", "deployment/example-foo", "--replicas=5"], env);
const scaledBack = ["wait", "deployment/example-foo", "--for=jsonpath={.spec.replicas}=1", "--timeout=30s"];
await command("kubectl", scaledBack, env);
await command("kubectl", ["get", "events.events.k8s.io"], env);
process.kill(controller.pid ?? 0, "SIGTERM");
const [code] = await once(controller, "exit");
console.log(`# controller ended with exit code ${code}`);
process.exitCode = code === 0 ? 0 : 1;

/** Shows a command, runs it, and throws when it fails. */
async function command(program: string, args: readonly string[], env = process.env): Promise<void> {
  console.log(`$ ${[program.replace("dist/", ""), ...args].join(" ")}`);
  const child = spawn(program, args, { env, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`Cannot go on: ${program} ended with exit code ${code}`);
}
