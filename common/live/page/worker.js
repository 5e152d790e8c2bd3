/* worker.js: runs of the simulator, in a Worker, behind the module's own script. Gets the compiled
 * module once, then one message a run; each run has an instance of its own, so nothing is left of
 * the one before. */

let compiled = null;

function instantiate(imports, done) {
  WebAssembly.instantiate(compiled, imports).then(done);
  return {};
}

async function start(off, kernel, lines) {
  const state = {code: 0};
  state.program = await hopper_simulator({
    thisProgram: "live",
    locateFile: name => name,
    instantiateWasm: instantiate,
    preRun: module => {
      // The museum's module has no environment.
      Object.assign(module.ENV || {}, {LIVE_OFF: off.join(","), LIVE_KERNEL: String(kernel)});
    },
    print: line => lines.out.push(line),
    printErr: line => lines.errors.push(line),
    quit: (code, error) => {
      state.code = code;
      throw error;
    },
  });
  return state;
}

function textOf(files, path) {
  try {
    return files.readFile(path, {encoding: "utf8"});
  } catch (error) {
    return "";
  }
}

async function run({id, options, off, kernel, report}) {
  const lines = {out: [], errors: []};
  const state = await start(off, kernel, lines);
  try {
    state.program.callMain(report ? [...options, "--report", "/report"] : options);
  } catch (error) {
    if (error.name !== "ExitStatus") throw error;
  }
  postMessage({
    id,
    code: state.code,
    out: lines.out.join("\n"),
    errors: lines.errors.join("\n"),
    page: report ? textOf(state.program.FS, "/report/index.html") : "",
  });
}

/* What --check runs, of every chapter. */
async function listChecks({id}) {
  const lines = {out: [], errors: []};
  const state = await start([], -1, lines);
  state.program._live_print_checks();
  postMessage({id, checks: lines.out.map(line => JSON.parse(line))});
}

onmessage = ({data}) => {
  if (data.module) {
    compiled = data.module;
    return;
  }
  (data.checks ? listChecks : run)(data).catch(
    error => postMessage(
      {id: data.id, code: 3, out: "", errors: `stopped: ${error.message}`, page: ""}));
};
