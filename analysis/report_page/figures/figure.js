// A figure: heading, legend, one drawing for each panel, caption, and its numbers as a table.
"use strict";
(() => {
  const drawings = {
    bars: probe.drawBars, lines: probe.drawLines, scatter: probe.drawScatter,
    heatmap: probe.drawHeatmap, chord: probe.drawChord,
  };
  const panelled = new Set(["bars", "lines", "scatter"]);

  // A mark that cannot be drawn is named instead.
  const undrawn = (figure) => {
    if (figure.kind === "lines" || figure.kind === "scatter") {
      return figure.marks.filter((mark) => mark.position === undefined)
        .map((mark) => `${mark.x || mark.series} (position unknown)`);
    }
    if (figure.kind !== "chord") return [];
    return figure.marks.filter((mark) => mark.value === null).map((mark) => `${mark.series} to ${mark.x} (unknown)`);
  };

  const numbersTable = (figure) => {
    const has = (key) => figure.marks.some((mark) => mark[key] !== undefined);
    const columns = [
      { key: "group", title: "panel", kind: "text" },
      { key: "series", title: figure.kind === "chord" ? "from" : "series", kind: "text" },
      { key: "x", title: figure.kind === "chord" ? "to" : figure.x_title && !has("position") ? figure.x_title : "name", kind: "text" },
      { key: "position", title: figure.x_title || "position", kind: "number" },
      { key: "value", title: figure.y_title || "value", kind: "number" },
      { key: "low", title: "low", kind: "number" },
      { key: "high", title: "high", kind: "number" },
    ].filter(({ key }) => key === "value" || figure.marks.some((mark) => mark[key] !== undefined && mark[key] !== ""));
    const rows = figure.marks.map((mark) => columns.map(({ key }) => {
      const value = mark[key];
      if (value === undefined || value === null) return null;
      return typeof value === "number" ? [String(Number(value.toPrecision(6))), value] : value;
    }));
    return { name: figure.name, title: "Numbers of: " + figure.title, columns, rows };
  };

  const description = (figure, marks) => {
    const known = marks.filter((mark) => mark.value !== null);
    const text = [`${figure.kind}, ${marks.length} marks`];
    if (figure.x_title) text.push(`x: ${figure.x_title}`);
    if (figure.y_title) text.push(`y: ${figure.y_title}`);
    if (known.length > 0) {
      const least = d3.least(known, (mark) => mark.value), most = d3.greatest(known, (mark) => mark.value);
      text.push(`lowest ${probe.markTitle(least)}`, `highest ${probe.markTitle(most)}`);
    }
    if (known.length < marks.length) text.push(`${marks.length - known.length} unknown`);
    return text.join("; ") + ". The numbers are in the table below.";
  };

  const drawPanel = (panel, figure, marks, series, id) => {
    const widest = ["lines", "scatter"].includes(figure.kind) ? 860 : Infinity;
    const width = Math.min(widest, Math.max(280, Math.floor(panel.clientWidth)));
    const svg = d3.create("svg:svg").attr("role", "img").attr("aria-labelledby", `${id}-title ${id}-desc`);
    const group = marks[0].group && panelled.has(figure.kind) ? ", " + marks[0].group : "";
    svg.append("title").attr("id", `${id}-title`).text(probe.plain(figure.title + group));
    svg.append("desc").attr("id", `${id}-desc`).text(description(figure, marks));
    const size = drawings[figure.kind](svg, marks, figure, series, width);
    svg.attr("width", size.width).attr("height", size.height).attr("viewBox", `0 0 ${size.width} ${size.height}`);
    if (size.width > panel.clientWidth) panel.tabIndex = 0; // scrolled by keyboard
    const old = panel.querySelector("svg");
    if (old) old.replaceWith(svg.node());
    else panel.append(svg.node());
  };

  probe.figureBlock = (figure, id) => {
    const marks = figure.marks.filter((mark) => mark.position !== undefined || !["lines", "scatter"].includes(figure.kind));
    const series = probe.unique(marks.map((mark) => mark.series));
    const groups = panelled.has(figure.kind) ? probe.unique(marks.map((mark) => mark.group || "")) : [""];
    const panels = groups.map((group) => probe.element("div", { class: "panel scroll" }, group ? probe.element("h4", {}, group) : null));
    const missing = undrawn(figure);
    const block = probe.element("figure", { id, "data-kind": figure.kind },
      probe.element("h3", {}, figure.title),
      panelled.has(figure.kind) && (series.length > 1 || (figure.kind !== "bars" && series[0])) ? probe.legend(series, figure.kind) : null,
      marks.length === 0 ? probe.element("p", { class: "unknown" }, "No marks to draw.") : null,
      probe.element("div", { class: groups.length > 1 ? "panels" : "panels one" }, panels),
      missing.length > 0 ? probe.element("p", { class: "note" }, "Not drawn: " + missing.join(", ")) : null,
      figure.caption ? probe.element("figcaption", {}, figure.caption) : null,
      figure.marks.length === 0 ? null
        : probe.element("details", {}, probe.element("summary", {}, "Numbers"), probe.tableGrid(numbersTable(figure))));
    if (marks.length === 0) return block;
    const draw = () => panels.forEach((panel, i) => {
      const own = panelled.has(figure.kind) ? marks.filter((mark) => (mark.group || "") === groups[i]) : marks;
      drawPanel(panel, figure, own, series, `${id}-${i}`);
    });
    // Drawn at the width it has, and again when that changes.
    let known = 0;
    new ResizeObserver(() => {
      const width = panels[0].clientWidth;
      if (width === 0 || width === known) return;
      known = width;
      draw();
    }).observe(panels[0]);
    return block;
  };
})();
