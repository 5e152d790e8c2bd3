/*
 * run.js: the module as a program, for node: node run.js MODULE.js ARGUMENT...
 * The environment's LIVE_OFF and LIVE_KERNEL are the module's, too; files that it writes stay
 * inside it.
 */
"use strict";
const fs = require("fs");
const path = require("path");

async function run(script, args, environment) {
    delete globalThis.fetch; // with which the module would look for a server
    const output = [];
    let code = 0;
    const instance = await require(path.resolve(script))({
        thisProgram: "live",
        wasmBinary: fs.readFileSync(script.replace(/js$/, "wasm")),
        preRun: (module) => { Object.assign(module.ENV || {}, environment); },
        print: (line) => output.push(line),
        printErr: (line) => process.stderr.write(line + "\n"),
        quit: (status, error) => { code = status; throw error; },
        onAbort: (why) => { throw new Error(why); },
    });
    try {
        instance.callMain(args);
    } catch (error) {
        if (error.name !== "ExitStatus") throw error;
    }
    process.stdout.write(output.map((line) => line + "\n").join(""));
    return code;
}

const {LIVE_OFF = "", LIVE_KERNEL = "-1"} = process.env;
run(process.argv[2], process.argv.slice(3), {LIVE_OFF, LIVE_KERNEL})
    .then((code) => { process.exitCode = code; });
