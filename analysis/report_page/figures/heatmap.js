// Heatmap: series are rows, `x` columns. Values stand in the cells; a cell without a mark
// stays empty, an unknown one says so.
"use strict";
probe.drawHeatmap = (svg, marks, figure, series, width) => {
  const rows = probe.unique(marks.map((mark) => mark.series));
  const columns = probe.unique(marks.map((mark) => mark.x));
  const known = marks.map((mark) => mark.value).filter((value) => value !== null);
  const decimals = probe.decimals(known);
  const [low, high] = known.length ? d3.extent(known) : [0, 1];
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const signed = low < 0 && high > 0;
  const color = signed
    ? d3.scaleDiverging([-most, 0, most], (t) => d3.interpolateRdBu(1 - t))
    : d3.scaleSequential([low, low === high ? low + 1 : high], d3.interpolateViridis);
  const left = Math.min(0.35 * width, 10 + d3.max(rows, (name) => probe.textWidth(name)));
  const cell = Math.max(50, Math.min(92, (width - left - 40) / columns.length)), tall = 28;
  const longest = Math.min(150, d3.max(columns, (name) => probe.textWidth(name)));
  const flat = longest <= cell - 6; // names fit over their columns: no need to tilt
  const top = flat ? 24 : 22 + longest * 0.71;
  const full = left + cell * columns.length + (flat ? 8 : Math.min(90, longest * 0.71));
  columns.forEach((name, c) => {
    const at = left + cell * (c + 0.5);
    const text = svg.append("text");
    if (flat) text.attr("x", at).attr("y", top - 8).attr("text-anchor", "middle");
    else text.attr("transform", `translate(${at - 2},${top - 6}) rotate(-45)`);
    probe.label(text, name, flat ? cell : 150).append("title").text(probe.plain(name));
  });
  rows.forEach((name, r) => {
    probe.label(svg.append("text").attr("x", left - 8).attr("y", top + tall * (r + 0.5) + 4).attr("text-anchor", "end"), name, left - 10)
      .append("title").text(probe.plain(name));
  });
  for (const mark of marks) {
    const x = left + cell * columns.indexOf(mark.x), y = top + tall * rows.indexOf(mark.series);
    const group = svg.append("g").attr("class", "mark").attr("transform", `translate(${x},${y})`);
    const box = group.append("rect").attr("x", 0.5).attr("y", 0.5).attr("width", cell - 1).attr("height", tall - 1);
    const text = group.append("text").attr("x", cell / 2).attr("y", tall / 2 + 4).attr("text-anchor", "middle");
    if (mark.value === null) {
      box.attr("class", "missing");
      text.attr("class", "none in-cell").text("unknown");
    } else {
      const fill = color(mark.value);
      box.attr("fill", fill);
      text.attr("class", "in-cell " + (d3.lab(fill).l < 58 ? "on-dark" : "on-light")).text(mark.value.toFixed(decimals));
    }
    group.append("title").text(probe.markTitle(mark));
  }
  // The scale of colours.
  const bottom = top + tall * rows.length + 16, steps = 32, bar = Math.min(220, width - left - 90);
  const ends = signed ? [-most, most] : [low, high];
  for (let i = 0; known.length > 0 && i < steps; ++i) {
    svg.append("rect").attr("x", left + 44 + bar * i / steps).attr("y", bottom).attr("width", bar / steps + 0.5).attr("height", 10)
      .attr("fill", color(ends[0] + (ends[1] - ends[0]) * i / (steps - 1)));
  }
  if (known.length > 0) {
    svg.append("text").attr("class", "soft in-cell").attr("x", left + 38).attr("y", bottom + 9).attr("text-anchor", "end").text(ends[0].toFixed(decimals));
    svg.append("text").attr("class", "soft in-cell").attr("x", left + 50 + bar).attr("y", bottom + 9).text(ends[1].toFixed(decimals));
  }
  const titles = [figure.y_title && "rows: " + figure.y_title, figure.x_title && "columns: " + figure.x_title].filter(Boolean).join("; ");
  probe.label(svg.append("text").attr("class", "soft").attr("x", left).attr("y", bottom + 28), titles, Math.max(full, width) - left);
  return { width: Math.max(full, Math.min(width, full + 40)), height: bottom + 36 };
};
