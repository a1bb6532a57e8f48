"use strict";
(async () => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("report-data").textContent);

  // Plotly is packed to keep the file small. The policy of the page lets an unpacked script run only
  // if it is, to the byte, the one that was packed.
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    packed.remove();
  }
  if (window.DecompressionStream) await unpack(byId("plotly-packed"));
  if (!window.Plotly) { // the page is readable without pictures
    byId("no-pictures").hidden = false;
    return;
  }
  root.classList.add("js");

  // Plotly reads some tags in its texts; names are never meant to be tags.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const shown = (value) => String(Number(value.toPrecision(3))).replace("-", "−");
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid"];
  const PATTERNS = ["", "/", ".", "\\", "x", "-", "|"]; // bars of classes, told apart without colours
  const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false };
  const coarse = window.matchMedia("(pointer: coarse)");
  let printing = false;

  function color(name) {
    return getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  }
  const lineColor = (k) => color(`c${k % 7}`);

  function layout(extra) {
    const axis = { gridcolor: color("line"), zeroline: false, linecolor: color("line"), automargin: true };
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: color("ink"), family: "system-ui, sans-serif", size: 13 },
      margin: { l: 10, r: 10, t: 30, b: 10 },
      hoverlabel: { bgcolor: color("card"), bordercolor: color("soft"), font: { color: color("ink") } },
      // A finger that drags should scroll the page.
      dragmode: coarse.matches ? false : "zoom",
      showlegend: false,
      autosize: !printing,
      ...(printing ? { width: 640 } : {}),
      ...extra,
      xaxis: { ...axis, ...extra.xaxis },
      yaxis: { ...axis, ...extra.yaxis },
    };
  }

  // ---- which columns ----
  function drawColumns() {
    const plot = byId("columns-plot");
    const { short, kept, probability, share } = data.columns;
    const at = short.map((_, i) => i);
    const label = (i) =>
      `${plain(short[i])}: probability ${shown(probability[i])}` +
      (share ? `, kept in ${shown(100 * share[i])} % of the refits` : "") +
      (kept[i] ? ", kept" : ", left out");
    const traces = [{
      type: "bar", orientation: "h", x: probability, y: at, hoverinfo: "text", hovertext: at.map(label), textposition: "none",
      marker: { color: kept.map((on) => (on ? lineColor(0) : color("paper"))), line: { color: lineColor(0), width: 1.2 } },
    }];
    if (share) {
      traces.push({
        type: "scatter", mode: "markers", x: share, y: at, hoverinfo: "text", hovertext: at.map(label), cliponaxis: false,
        marker: { symbol: "circle", size: 9, opacity: 1, color: color("paper"), line: { width: 2, color: lineColor(1) } },
      });
    }
    const height = 90 + 24 * short.length;
    plot.style.minHeight = `${height}px`;
    return Plotly.react(plot, traces, layout({
      height,
      xaxis: { range: [-0.02, 1.02], title: { text: "probability" }, fixedrange: true },
      yaxis: { tickvals: at, ticktext: short.map(plain), range: [short.length - 0.4, -0.6], fixedrange: true, showgrid: false },
      shapes: [{ type: "line", x0: 0.5, x1: 0.5, y0: 0, y1: 1, yref: "paper", layer: "below", line: { color: color("soft"), width: 1, dash: "dot" } }],
    }), CONFIG);
  }

  // ---- curves ----
  const chosen = byId("component");
  const chosenClass = byId("class");
  let lines = []; // traces that hold values, for reading with the keyboard
  let reading = -1;
  const whole = byId("whole"); // there when a few rows lie far from the others
  let showWhole = false;

  function visibleClasses() {
    const all = data.classes.map((_, k) => k);
    return !chosenClass || chosenClass.value === "all" ? all : [Number(chosenClass.value)];
  }

  function hoverText(curve, k, i) {
    const value = curve.categories ? curve.grid[i] : shown(curve.grid[i]);
    const whose = data.classes.length > 1 ? `${data.classes[k]}: ` : "";
    const band = curve.low ? ` (${shown(curve.low[k][i])} to ${shown(curve.high[k][i])})` : "";
    const rows = curve.counts ? `, ${curve.counts[i]} rows` : "";
    return `${whose}at ${value}${rows} adds ${shown(curve.values[k][i])}${band}`;
  }

  function bars(curve, k, classes, traces) {
    const width = 0.8 / classes.length;
    const offset = (classes.indexOf(k) - (classes.length - 1) / 2) * width;
    const values = curve.values[k];
    traces.push({
      type: "bar", x: values.map((_, i) => i + offset), y: values, width, name: plain(data.classes[k]),
      marker: { color: lineColor(k), pattern: { shape: PATTERNS[k % 7], fillmode: "overlay", fgcolor: color("paper"), solidity: 0.25 } },
      hoverinfo: "text", textposition: "none",
      hovertext: values.map((_, i) => plain(hoverText(curve, k, i))),
      error_y: curve.low ? {
        type: "data", symmetric: false, color: color("ink"), thickness: 1.5,
        array: values.map((v, i) => curve.high[k][i] - v), arrayminus: values.map((v, i) => v - curve.low[k][i]),
      } : undefined,
    });
  }

  function line(curve, k, traces) {
    const values = curve.values[k];
    if (curve.low) {
      traces.push({
        type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false, fill: "toself", line: { width: 0 },
        x: [...curve.grid, ...[...curve.grid].reverse()], y: [...curve.high[k], ...[...curve.low[k]].reverse()],
        fillcolor: lineColor(k) + "2e",
      });
    }
    traces.push({
      type: "scatter", mode: curve.grid.length > 1 ? "lines" : "markers", x: curve.grid, y: values, name: plain(data.classes[k]),
      line: { color: lineColor(k), width: 2.5, dash: DASHES[k % 7] },
      hoverinfo: "text", hovertext: values.map((_, i) => plain(hoverText(curve, k, i))),
    });
  }

  function drawCurve() {
    const plot = byId("curve-plot");
    const curve = data.curves[Number(chosen.value)];
    const classes = visibleClasses();
    const traces = [];
    lines = [];
    for (const k of classes) {
      if (curve.categories) bars(curve, k, classes, traces);
      else line(curve, k, traces);
      lines.push(traces.length - 1);
    }
    if (curve.marks) {
      traces.push({
        type: "scatter", mode: "markers", x: curve.marks, y: curve.marks.map(() => 0.02), yaxis: "y2", hoverinfo: "skip", showlegend: false,
        marker: { symbol: "line-ns-open", size: 8, color: color("soft"), opacity: 0.6 },
      });
    }
    const missing = curve.missing ? classes.map((k) => ({
      type: "line", xref: "paper", x0: 0, x1: 1, y0: curve.missing[k], y1: curve.missing[k],
      line: { color: lineColor(k), width: 1, dash: "dot" },
    })) : [];
    const zero = { type: "line", xref: "paper", x0: 0, x1: 1, y0: 0, y1: 0, layer: "below", line: { color: color("soft"), width: 1 } };
    if (whole) whole.hidden = !curve.view;
    const cut = curve.view && !showWhole;
    const margin = cut ? 0.05 * (curve.view[1] - curve.view[0]) : 0;
    const view = cut ? { range: [curve.view[0] - margin, curve.view[1] + margin], autorange: false } : { autorange: true };
    const ticks = curve.categories ? { tickvals: curve.grid.map((_, i) => i), ticktext: curve.grid.map(plain) } : { type: "linear", ...view };
    return Plotly.react(plot, traces, layout({
      height: 380, hovermode: "x", showlegend: classes.length > 1, shapes: [zero, ...missing],
      legend: { orientation: "h", y: 1.02, yanchor: "bottom" },
      xaxis: { title: { text: plain(curve.short) }, ...ticks, showgrid: false },
      yaxis: { title: { text: plain(`adds to ${data.quantity}`) } },
      yaxis2: { overlaying: "y", range: [0, 1], visible: false, fixedrange: true },
    }), CONFIG);
  }

  function showCurve() {
    reading = -1;
    byId("curve-words").textContent = data.curves[Number(chosen.value)].words;
    byId("curve-value").textContent = "";
    document.querySelectorAll(".sketches li").forEach((item) => {
      if (item.dataset.curve === chosen.value) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    });
    return drawCurve();
  }

  function step(by) {
    chosen.value = String((Number(chosen.value) + by + data.curves.length) % data.curves.length);
    showCurve();
  }

  function readValue(event) {
    const curve = data.curves[Number(chosen.value)];
    const last = curve.grid.length - 1;
    const stride = curve.categories ? 1 : Math.max(1, Math.round(last / 20));
    const target = {
      ArrowLeft: Math.max(0, reading - stride), ArrowRight: Math.min(last, reading < 0 ? 0 : reading + stride), Home: 0, End: last,
    }[event.key];
    if (target === undefined || last < 0) return;
    event.preventDefault();
    reading = target;
    Plotly.Fx.hover(byId("curve-plot"), lines.map((curveNumber) => ({ curveNumber, pointNumber: reading })));
    byId("curve-value").textContent = visibleClasses().map((k) => hoverText(curve, k, reading)).join("; ");
  }

  // ---- measured against predicted ----
  function drawPoints() {
    const { truth, prediction, row } = data.points;
    const ends = [Math.min(...truth, ...prediction), Math.max(...truth, ...prediction)];
    return Plotly.react(byId("points-plot"), [
      { type: "scatter", mode: "lines", x: ends, y: ends, hoverinfo: "skip", line: { color: color("soft"), dash: "dash", width: 1 } },
      {
        type: "scatter", mode: "markers", x: prediction, y: truth, hoverinfo: "text", marker: { color: lineColor(0), size: 7, opacity: 0.7 },
        hovertext: row.map((r, i) => `row ${r}: predicted ${shown(prediction[i])}, measured ${shown(truth[i])}`),
      },
    ], layout({ height: 380, hovermode: "closest", xaxis: { title: { text: "predicted" } }, yaxis: { title: { text: "measured" } } }), CONFIG);
  }

  function drawAll() {
    return Promise.all([
      byId("columns-plot") && drawColumns(),
      data.curves.length && drawCurve(),
      byId("points-plot") && data.points && drawPoints(),
    ]);
  }

  if (data.curves.length) {
    chosen.addEventListener("change", showCurve);
    if (chosenClass) chosenClass.addEventListener("change", showCurve);
    byId("previous").addEventListener("click", () => step(-1));
    byId("next").addEventListener("click", () => step(1));
    if (whole) whole.addEventListener("click", () => {
      showWhole = !showWhole;
      whole.setAttribute("aria-pressed", String(showWhole));
      drawCurve();
    });
    byId("save").addEventListener("click", () => Plotly.downloadImage(byId("curve-plot"), {
      format: "svg", width: 800, height: 450, filename: `curve-${data.curves[Number(chosen.value)].column}`,
    }));
    byId("curve-plot").addEventListener("keydown", readValue);
    // A shortcut for the mouse; the list above does the same with the keyboard.
    document.querySelectorAll(".sketches li").forEach((item) => item.addEventListener("click", () => {
      chosen.value = item.dataset.curve;
      showCurve();
      byId("component").scrollIntoView({ block: "nearest" });
    }));
    showCurve();
  }
  drawAll();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

  // Paper: light colours, a width that fits, and nothing folded away but lists of many pages.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.long)")];
    opened.forEach((item) => { item.open = true; });
    root.classList.add("paper");
    printing = true;
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((item) => { item.open = false; });
    root.classList.remove("paper");
    printing = false;
    drawAll();
  });
})();
