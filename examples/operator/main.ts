/** The program: the commands run, install-crds, dev, manifests, doctor and others, from one controller. */
import process from "node:process";
import { operatorCli } from "../../src/mod.ts";
import { websiteController } from "./controller.ts";

process.exit(await operatorCli({ name: "website-operator", version: "1.0.0", controllers: [websiteController] }));
