"use strict";
(function () {
  const MOST_FOUND = 30, MOST_DRAWN = 24;
  const data = JSON.parse(document.getElementById("data").textContent);
  const el = (id) => document.getElementById(id);

  const unpacked = (text, Kind) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Kind(bytes.buffer);
  };
  const fractions = (text) => Float32Array.from(unpacked(text, Uint16Array), (v) => v / 65535);
  const ids = data.ids === null ? null : unpacked(data.ids, Int32Array);
  const number = (i) => String(ids === null ? i : ids[i]);
  const x = fractions(data.x), y = fractions(data.y);
  const label = unpacked(data.label, Int16Array), predicted = unpacked(data.predicted, Int16Array);
  const p = fractions(data.p), degree = unpacked(data.degree, Int32Array);
  const indptr = unpacked(data.indptr, Int32Array), cols = unpacked(data.cols, Int32Array);
  const a = fractions(data.a), k = fractions(data.k), kHat = fractions(data.kHat);
  const share = Float32Array.from(unpacked(data.share, Int16Array), (v) => v / 32767);

  const name = (i) => (data.names === null ? number(i) : data.names[i]);
  const className = (c) => (c < 0 ? "–" : data.classes[c]);
  const wrong = (i) => label[i] >= 0 && predicted[i] >= 0 && label[i] !== predicted[i];
  const percent = (v) => (100 * v).toFixed(1) + " %";
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const ink = () => (dark.matches ? "#e8eaec" : "#1d1f21");
  const fill = (i) => (predicted[i] < 0 ? "#8a8f94" : data.colours[predicted[i]]);

  let nodes = null, here = null, lines = null, ends = null, words = null;  // what Bokeh draws
  let chosen = -1, drawn = [];

  function drawMap() {
    const every = Array.from({length: data.shown}, (_, i) => i);
    nodes.data = {
      x, y,
      fill: every.map(fill),
      line: every.map((i) => (wrong(i) ? ink() : fill(i))),
      name: every.map(name),
      predicted: every.map((i) => className(predicted[i])),
      p: p.slice(0, data.shown),
      known: every.map((i) => className(label[i])),
    };
  }

  function neighbours(i) {
    const out = [];
    for (let e = indptr[i]; e < indptr[i + 1]; e++) {
      out.push({e, at: cols[e], itself: cols[e] === i});
    }
    return out;
  }

  function mark(n) {
    if (n.itself) return "itself";
    if (!data.hasKernel) return "";
    if (k[n.e] < data.off) return "switched off";
    return data.weak !== null && k[n.e] < data.weak ? "weak" : "";
  }

  function drawAround(i) {
    here.data = {x: [x[i]], y: [y[i]], line: [ink()]};
    const others = neighbours(i).filter((n) => !n.itself).slice(0, MOST_DRAWN);
    const top = Math.max(1e-9, ...others.map((n) => kHat[n.e]));
    const place = others.map((_, j) => {
      const angle = Math.PI / 2 - (2 * Math.PI * j) / Math.max(1, others.length);
      return [Math.cos(angle), Math.sin(angle)];
    });
    drawn = [i, ...others.map((n) => n.at)];
    lines.data = {
      x0: others.map(() => 0), y0: others.map(() => 0),
      x1: place.map((c) => c[0]), y1: place.map((c) => c[1]),
      width: others.map((n) => 0.75 + (11 * kHat[n.e]) / top),
      colour: others.map((n) => (mark(n) === "switched off" ? "#d55e00" : "#888e94")),
      dash: others.map((n) => (mark(n) === "switched off" ? [4, 4] : [])),
    };
    ends.data = {
      x: [0, ...place.map((c) => c[0])], y: [0, ...place.map((c) => c[1])],
      fill: drawn.map(fill),
      line: drawn.map((j) => (wrong(j) ? ink() : fill(j))),
      name: drawn.map(name),
      predicted: drawn.map((j) => className(predicted[j])),
      k: ["–", ...others.map((n) => kHat[n.e].toFixed(3))],
      size: drawn.map((_, j) => (j ? 14 : 20)),
    };
    ends.selected.indices = [];
    const narrow = el("around").clientWidth < 600, letters = narrow ? 9 : others.length > 14 ? 14 : 22;
    words.data = {
      x: [0, ...place.map((c) => 1.09 * c[0])],
      y: [-0.16, ...place.map((c) => 1.09 * c[1] + (Math.abs(c[0]) < 0.05 ? 0.06 * Math.sign(c[1]) : 0))],
      text: drawn.map((j, at) => short(name(j), at ? letters : 24)),
      align: ["center", ...place.map((c) => (Math.abs(c[0]) < 0.05 ? "center" : c[0] > 0 ? "left" : "right"))],
      colour: drawn.map(ink),
    };
  }

  function cell(row, content, className_) {
    const td = document.createElement("td");
    if (className_) td.className = className_;
    if (content instanceof Node) td.append(content); else td.textContent = content;
    row.append(td);
  }

  function link(i) {
    if (i >= data.shown) return document.createTextNode(name(i));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "node";
    button.dataset.node = i;
    button.textContent = name(i);
    return button;
  }

  function list(i) {
    const table = el("neighbours"), body = table.tBodies[0], all = neighbours(i);
    all.sort((b, c) => Math.abs(share[c.e]) - Math.abs(share[b.e]));
    body.replaceChildren(...all.map((n) => {
      const row = document.createElement("tr");
      cell(row, link(n.at));
      cell(row, className(label[n.at]));
      cell(row, className(predicted[n.at]));
      for (const values of [a, k, kHat]) cell(row, values[n.e].toFixed(3), "n");
      cell(row, (share[n.e] >= 0 ? "+" : "−") + percent(Math.abs(share[n.e])), "n");
      cell(row, mark(n));
      return row;
    }));
    const kept = all.length - 1, part = kept < degree[i] ? `the ${kept} with the largest k_hat of ` : "";
    const of = `${degree[i]} ` + (degree[i] === 1 ? "neighbour" : "neighbours");
    table.caption.firstElementChild.textContent = `${name(i)} and ${part}${of}, largest share first`;
    return of;
  }

  function choose(i, {go = false} = {}) {
    if (!(i >= 0 && i < data.shown)) return;
    chosen = i;
    el("chosen").hidden = false;
    el("chosen-name").textContent = name(i);
    const of = list(i);
    const listed = neighbours(i), cut = listed.filter((n) => mark(n) === "switched off").length;
    const among = listed.length - 1 < degree[i] ? `of the ${listed.length - 1} listed` : "of them";
    el("chosen-text").textContent =
      `Predicted ${className(predicted[i])} with ${percent(p[i])}; known: ${label[i] < 0 ? "no class" : className(label[i])}. ` +
      `It has ${of}` + (data.hasKernel ? `, ${cut} ${among} switched off by the kernel.` : ".");
    if (nodes !== null) {
      if (nodes.selected.indices[0] !== i || nodes.selected.indices.length !== 1) nodes.selected.indices = [i];
      drawAround(i);
    }
    if (go) {
      el("chosen").scrollIntoView({block: "start"});
      el("chosen-name").focus({preventScroll: true});
    }
  }

  // Search: every name is compared in lower case; numbers of nodes count where nodes have names, too.
  const lower = Array.from({length: data.shown}, (_, i) => name(i).toLowerCase());
  function search() {
    const wanted = el("search").value.trim().toLowerCase(), found = [];
    let total = 0;
    if (wanted) {
      const first = [], rest = [];
      for (let i = 0; i < data.shown; i++) {
        const at = lower[i].indexOf(wanted);
        if (lower[i] === wanted || (data.names !== null && number(i) === wanted)) first.unshift(i);
        else if (at === 0) first.push(i);
        else if (at > 0) rest.push(i);
      }
      total = first.length + rest.length;
      found.push(...first.concat(rest).slice(0, MOST_FOUND));
    }
    el("found").replaceChildren(...found.map((i) => {
      const item = document.createElement("li");
      item.append(link(i));
      return item;
    }));
    el("count").textContent = !wanted ? "" : total > found.length ? `${total} found, the first ${found.length}:` : `${total} found`;
    return found;
  }
  el("search").addEventListener("input", search);
  el("search").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const found = search();
    if (found.length) choose(found[0], {go: true});
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.node");
    if (button) choose(Number(button.dataset.node), {go: true});
  });

  // Arrow keys: the nearest node within 45 degrees of the direction.
  const WAYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
  el("map").addEventListener("keydown", (event) => {
    const way = WAYS[event.key];
    if (!way) return;
    event.preventDefault();
    if (chosen < 0) return choose(0);
    let best = -1, nearest = Infinity;
    for (let i = 0; i < data.shown; i++) {
      const dx = x[i] - x[chosen], dy = y[i] - y[chosen];
      const along = dx * way[0] + dy * way[1], off = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      const far = dx * dx + dy * dy;
      if (i !== chosen && along > 0 && off <= along && far < nearest) { best = i; nearest = far; }
    }
    return choose(best);
  });

  async function start() {
    const plots = [await Bokeh.embed.embed_item(data.plots.map, "map"), await Bokeh.embed.embed_item(data.plots.around, "around")];
    const source = (wanted) => {
      for (const document_ of Bokeh.documents) {
        const found = document_.get_model_by_name(wanted);
        if (found) return found;
      }
      throw new Error(`no plot holds ${wanted}`);
    };
    [nodes, here, lines, ends, words] = ["nodes", "here", "lines", "ends", "words"].map(source);
    drawMap();
    nodes.selected.properties.indices.change.connect(() => {
      const picked = nodes.selected.indices;
      if (picked.length && picked[0] !== chosen) choose(picked[0]);
    });
    ends.selected.properties.indices.change.connect(() => {
      const picked = ends.selected.indices;
      if (picked.length && drawn[picked[0]] < data.shown) choose(drawn[picked[0]]);
    });
    dark.addEventListener("change", () => { drawMap(); if (chosen >= 0) drawAround(chosen); });
    if (chosen >= 0) choose(chosen);
    document.documentElement.dataset.ready = String(plots.length);
  }
  start();
})();
