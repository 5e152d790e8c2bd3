/* results.js: the heading and the table of results. */

let data = null; /* the report that is shown: renderReport() */

/* What went wrong while the page ran: shown by the self-test. */
const pageErrors = [];
addEventListener("error", event => pageErrors.push(String(event.message)));
addEventListener("unhandledrejection", event => pageErrors.push(String(event.reason)));

const byId = id => document.getElementById(id);

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/* 1234567 -> "1 234 567", with narrow spaces that do not break. */
const whole = number => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, "\u202F");
const percent = share => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %";

function showRun() {
  const info = data.info, parts = [];
  parts.push(info.device, info.m && `${info.m} \u00d7 ${info.n} \u00d7 ${info.k}`, info.dtype);
  if (info.input) parts.push(info.input + " input");
  if (info.power_limit_w) parts.push(`power limit ${info.power_limit_w} W`);
  if (info.driver) parts.push("driver " + info.driver);
  if (info.toolkit) parts.push("CUDA " + info.toolkit);
  const badge = element("span", {class: "badge"}, info.simulated ? "simulated" : "measured");
  byId("run").append(badge, parts.filter(Boolean).join(", "));
  byId("shares").hidden = !info.m;
  if (info.command) byId("run").append(element("br"), element("code", {}, info.command));
}

function bar(share) {
  const fill = element("i");
  fill.style.width = Math.max(0, Math.min(1, share)) * 100 + "%";
  return element("span", {class: "bar", "aria-hidden": "true"}, fill);
}

/* The rows in tables: one, or one for each problem, which its first row names. */
function resultTables() {
  const tables = [];
  for (const row of data.rows)
    if (row.problem || !tables.length)
      tables.push([row]);
    else
      tables[tables.length - 1].push(row);
  return tables;
}

/* The columns that this run can fill: title, text of a row (null: not known), and the share that
 * its bar shows, which grows with the number. */
function resultColumns(rows) {
  const most = key => Math.max(...rows.map(row => row[key] || 0));
  const cublas = rows.find(row => row.name === "cublas");
  /** @type {any[][]} */
  const columns = [];
  const speed = (mode, title) => {
    const tflops = mode + "_tflops", best = most(tflops);
    if (best === 0) return;
    columns.push(
      [title + ", ms", row => row[mode + "_ms"] ? row[mode + "_ms"].toPrecision(4) : null]);
    columns.push([
      title + ", TFLOPS", row => row[tflops] ? row[tflops].toFixed(1) : null,
      row => row[tflops] / best
    ]);
    if (cublas && cublas[tflops])
      columns.push(
        ["of cuBLAS", row => row[tflops] ? percent(row[tflops] / cublas[tflops]) : null]);
    columns.push(
      ["clock, MHz", row => row[mode + "_clock_mhz"] ? whole(row[mode + "_clock_mhz"]) : null]);
  };
  speed("burst", "burst");
  speed("sustained", "sustained");
  if (most("power_w"))
    columns.push(["power, W", row => row.power_w ? row.power_w.toFixed(0) : null]);
  if (most("cycles"))
    columns.push([
      data.info.simulated ? "simulated cycles" : "SM cycles",
      row => row.cycles ? whole(row.cycles) : null
    ]);
  if (most("utilization"))
    columns.push([
      (data.info.simulated ? "simulated " : "") + "Tensor Core utilization, whole run",
      row => row.utilization ? percent(row.utilization) : null, row => row.utilization
    ]);
  if (most("registers")) columns.push(["registers", row => row.registers || null]);
  if (most("smem_bytes"))
    columns.push(
      ["shared memory", row => row.smem_bytes ? (row.smem_bytes / 1024).toFixed(0) + " KB" : null]);
  return columns;
}

function showResults() {
  for (const rows of resultTables()) {
    const table = byId("results").appendChild(element("table"));
    if (rows[0].problem) table.append(element("caption", {}, rows[0].problem));
    showTable(table, rows);
  }
}

function showTable(table, rows) {
  const columns = resultColumns(rows);
  const head = element("tr", {}, element("th", {}, data.info.m ? "chapter" : "kernel"));
  for (const [title] of columns) head.append(element("th", {class: "number"}, title));
  head.append(element("th", {}, "result"));
  table.append(element("thead", {}, head));
  const body = table.appendChild(element("tbody"));
  for (const row of rows) {
    const label = row.name + (row.variant ? " " + row.variant : "");
    const drawn = data.timelines.some(timeline => nameOf(timeline) === label);
    const name = element("td", {},
      drawn ? element("a", {href: "#step=" + encodeURIComponent(label)}, label) : label);
    if (row.technique) name.append(element("span", {class: "technique"}, row.technique));
    const line = element("tr", row.baseline ? {class: "baseline"} : {}, name);
    for (const [title, text, share] of columns) {
      const shown = text(row), cell = element("td", {class: "number", "data-title": title},
        element("span", {}, shown === null ? "\u2013" : String(shown)));
      if (share && shown !== null) cell.append(bar(share(row)));
      line.append(cell);
    }
    const verified = row.baseline ? "" : row.verified ? "verified" :
                                                        (row.failure || "not verified").toLowerCase();
    line.append(element("td", {
      class: row.baseline || row.verified ? "good" : "bad",
      "data-title": "result"
    }, verified));
    body.append(line);
  }
}
