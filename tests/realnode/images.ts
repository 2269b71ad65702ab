/**
 * The images that every node can pull: pause, busybox, and a stand-in for nginx, which serves HTTP on port 80 (Kubernetes'
 * own test program `agnhost netexec`). They are one OCI layout, which gateway.ts serves.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pauseImage } from "./config.ts";
import { writeImageLayout } from "./image_layout.ts";
import type { NodePrograms } from "./programs.ts";

/** The image that Foo's Deployments use. */
export const nginxImage = "docker.io/library/nginx:latest";

/** An image with a shell, and the small programs of one. */
export const busyboxImage = "docker.io/library/busybox:latest";

/** The programs of busybox that Pods of tests start by name. */
const busyboxPrograms = ["sh", "cat", "echo", "httpd", "mkdir", "chmod", "sleep"];

/** Writes the layout. */
export async function writeImages(layout: string, programs: NodePrograms): Promise<void> {
  const paths = ["usr/bin", "bin"].map((folder) => join(programs.busybox, folder, "busybox")); // newer and older Debian
  const busybox = paths.find((path) => existsSync(path));
  if (busybox === undefined) throw new Error(`Cannot write images: there is no ${paths.join(" and no ")}`);
  await writeImageLayout(layout, [
    { name: pauseImage, files: { program: join(programs.pause, "pause") }, entrypoint: ["/program"] },
    {
      name: nginxImage,
      files: { program: join(programs.kubernetes, "agnhost") },
      entrypoint: ["/program", "netexec", "--http-port=80", "--udp-port=-1"],
    },
    { name: busyboxImage, files: Object.fromEntries(busyboxPrograms.map((name) => [`bin/${name}`, busybox])) },
  ]);
}
