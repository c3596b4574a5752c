"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const plots = [...document.querySelectorAll("figure")].map((figure) => ({
    div: figure.querySelector(".plot"),
    entries: [...figure.querySelectorAll(".legend button")],
    ...JSON.parse(figure.querySelector("script").textContent),
  }));
  // In pixels: a page, and the narrowest panel before there are fewer in a row. Print is read from closer than a screen.
  const SCREEN = { narrowest: 250 };
  const PAPER = { width: 660, narrowest: 200 };
  const touch = matchMedia("(pointer: coarse)").matches;

  // Break a text into lines that fit, and write it as plotly wants it.
  function lines(text, pixels, size) {
    const most = Math.max(8, Math.floor(pixels / (0.52 * size)));
    const broken = [""];
    for (const word of text.split(/\s+/)) {
      const last = broken[broken.length - 1];
      if (last && last.length + 1 + word.length > most) broken.push(word);
      else broken[broken.length - 1] = last ? `${last} ${word}` : word;
    }
    return broken.map((line) => line.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"));
  }

  function layout(plot, { width = plot.div.clientWidth, narrowest }) {
    const style = getComputedStyle(root);
    const [page, ink, quiet, line, grid] = ["page", "ink", "quiet", "line", "grid"].map((name) => style.getPropertyValue(`--${name}`).trim());
    const { panels } = plot;
    const columns = Math.max(1, Math.min(plot.columns, panels.length, Math.floor(width / narrowest)));
    const rows = Math.ceil(panels.length / columns);
    // A label that the panel below, or to the left, says as well is left to that one.
    const showsX = panels.map((panel, k) => panels[k + columns]?.x !== panel.x);
    const showsY = panels.map((panel, k) => k % columns === 0 || panels[k - 1].y !== panel.y);
    const side = { l: 64, r: 12, b: 48 };
    const gapX = showsY.some((shown, k) => shown && k % columns) ? 70 : 48;
    const wide = (width - side.l - side.r - gapX * (columns - 1)) / columns;
    const high = Math.max(0.68 * narrowest, Math.min(280, 0.7 * wide));
    const titles = panels.map((panel) => lines(panel.title, wide, 13));
    const top = 12 + 17 * Math.max(...titles.map((title) => title.length));
    const gapY = top + (showsX.some((shown, k) => shown && k + columns < panels.length) ? 48 : 26);
    const inner = { width: width - side.l - side.r, height: rows * high + (rows - 1) * gapY };
    const result = {
      width, height: top + inner.height + side.b, margin: { ...side, t: top, pad: 0 }, autosize: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, uirevision: "same",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: quiet },
      hovermode: "x unified", dragmode: touch ? false : "zoom",
      hoverlabel: { bgcolor: page, bordercolor: line, font: { color: ink, size: 12 }, namelength: -1 },
      annotations: [],
    };
    panels.forEach((panel, k) => {
      const left = (k % columns) * (wide + gapX) / inner.width;
      const upper = 1 - Math.floor(k / columns) * (high + gapY) / inner.height;
      const id = k ? String(k + 1) : "";
      const axis = {
        type: panel.log ? "log" : "linear", gridcolor: grid, linecolor: quiet, showline: true, zeroline: false,
        ticks: "outside", ticklen: 4, tickcolor: quiet, automargin: false,
        exponentformat: "power", minexponent: 5, separatethousands: true,
      };
      const label = (text, room) => ({ text: lines(text, room, 12).join("<br>"), standoff: 8, font: { color: ink } });
      result[`xaxis${id}`] = {
        ...axis, anchor: `y${id}`, domain: [left, Math.min(1, left + wide / inner.width)],
        nticks: Math.max(3, Math.floor(wide / 60)), title: showsX[k] ? label(panel.x, wide) : undefined,
        unifiedhovertitle: { text: `${lines(panel.x, wide, 12).join(" ")}: %{x:,.6~g}` },
      };
      result[`yaxis${id}`] = {
        ...axis, anchor: `x${id}`, domain: [Math.max(0, upper - high / inner.height), upper],
        nticks: 6, title: showsY[k] ? label(panel.y, high) : undefined,
      };
      result.annotations.push({
        text: titles[k].join("<br>"), xref: "paper", yref: "paper", x: left, y: upper, xanchor: "left", yanchor: "bottom",
        yshift: 4, align: "left", showarrow: false, font: { size: 13, color: ink },
      });
    });
    return result;
  }

  function draw(plot, medium = SCREEN) {
    Plotly.react(plot.div, plot.traces, layout(plot, medium), { displayModeBar: false, responsive: false, typesetMath: false });
  }

  function show(plot, shown) {
    plot.entries.forEach((entry) => entry.setAttribute("aria-pressed", shown.has(entry.dataset.name)));
    plot.traces.forEach((trace) => { trace.visible = shown.has(trace.legendgroup) || "legendonly"; });
    draw(plot);
  }

  function dress(theme) {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
  }

  for (const plot of plots) {
    const shown = new Set(plot.entries.map((entry) => entry.dataset.name));
    for (const entry of plot.entries) {
      const { name } = entry.dataset;
      entry.addEventListener("click", () => {
        if (!shown.delete(name)) shown.add(name);
        show(plot, shown);
      });
      entry.addEventListener("dblclick", () => {
        const alone = shown.size === 1 && shown.has(name);
        plot.entries.forEach((other) => shown.add(other.dataset.name));
        if (!alone) plot.entries.forEach((other) => other === entry || shown.delete(other.dataset.name));
        show(plot, shown);
      });
    }
  }

  const all = () => plots.forEach((plot) => draw(plot));
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const restyle = (theme) => { dress(theme); all(); };
  button.addEventListener("click", () => restyle(root.dataset.theme === "dark" ? "light" : "dark"));
  scheme.addEventListener("change", () => restyle(scheme.matches ? "dark" : "light"));

  let width = innerWidth;
  let waiting;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(all, 100);
  });

  // Paper is white, has no room for the width of a screen, and nobody can open a table on it: long ones are printed,
  // details are not.
  let before;
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open], .detail)")];
    before = { theme: root.dataset.theme, closed };
    closed.forEach((details) => { details.open = true; });
    dress("light");
    plots.forEach((plot) => draw(plot, PAPER));
  });
  addEventListener("afterprint", () => {
    before.closed.forEach((details) => { details.open = false; });
    restyle(before.theme);
  });

  // Make room for every figure at once, so that links lead to the right place, then draw one after the other.
  dress(root.dataset.theme);
  plots.forEach((plot) => { plot.div.style.minHeight = `${layout(plot, SCREEN).height}px`; });
  const queue = [...plots];
  (function next() {
    const plot = queue.shift();
    if (!plot) {
      root.dataset.drawn = "all";
      return;
    }
    draw(plot);
    plot.div.style.minHeight = "";
    setTimeout(next);
  })();
})();
