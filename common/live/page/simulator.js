/* simulator.js: the module, and Workers that run it. */

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const textOfElement = id => document.getElementById(id).textContent.trim();

let modulePromise = null, scriptAddress = null;

function loadModule() {
  modulePromise ||= unpacked(textOfElement("wasm")).then(bytes => WebAssembly.compile(bytes));
  return modulePromise;
}

async function loadScript() {
  if (!scriptAddress) {
    const text = new TextDecoder().decode(await unpacked(textOfElement("module-script")));
    scriptAddress = URL.createObjectURL(
      new Blob([text, textOfElement("worker-script")], {type: "text/javascript"}));
  }
  return scriptAddress;
}

/* A Worker that does one run after the other. stop() ends what it does, and what it has yet to do
 * is never answered. */
class Simulator {
  #worker = null;
  #waiting = new Map();
  #last = 0;

  async #start() {
    const worker = new Worker(await loadScript());
    worker.postMessage({module: await loadModule()});
    worker.onmessage = ({data}) => {
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    };
    return worker;
  }

  async #ask(message) {
    this.#worker ||= this.#start();
    const asked = this.#worker, worker = await asked;
    if (asked !== this.#worker) return new Promise(() => {}); // stopped meanwhile
    const id = ++this.#last;
    return new Promise(resolve => {
      this.#waiting.set(id, resolve);
      worker.postMessage({...message, id});
    });
  }

  /* {code, out, errors, page} */
  run(options, {off, kernel}, report) {
    return this.#ask({options, off: [...off], kernel, report});
  }
  checks() { return this.#ask({checks: true}); }

  get busy() { return this.#waiting.size > 0; }

  stop() {
    this.#worker?.then(worker => worker.terminate());
    this.#worker = null;
    this.#waiting.clear();
  }
}
