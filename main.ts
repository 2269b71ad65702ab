/** The program `controller`: Pintle's own controllers behind one command line. */
import process from "node:process";
import { fooController } from "./src/controllers/foo/mod.ts";
import { operatorCli } from "./src/mod.ts";

process.exit(await operatorCli({ name: "controller", controllers: [fooController] }));
