// Scatter: a point for each mark; names of points where there is room.
"use strict";
probe.drawScatter = (svg, marks, figure, series, width) => {
  const kMostNames = 60;
  const height = Math.round(Math.max(300, Math.min(560, width * 0.7)));
  const { x, y, inner } = probe.plane(svg, marks, figure, width, height, probe.valueDomain(figure, false));
  const points = [];
  const unknownAt = new Map();
  for (const mark of marks) {
    const at = x(mark.position);
    if (mark.value === null) {
      const nth = unknownAt.get(at) || 0;
      unknownAt.set(at, nth + 1);
      probe.unknownPoint(svg, mark, at, inner, nth);
      continue;
    }
    const style = probe.seriesStyle(series.indexOf(mark.series));
    const group = svg.append("g").attr("class", "mark");
    probe.whisker(group, at, y, mark);
    group.append("path").attr("class", "dot f" + style.color).attr("d", style.symbol).attr("transform", `translate(${at},${y(mark.value)})`);
    group.append("title").text(probe.markTitle(mark));
    points.push({ x: at, y: y(mark.value), name: mark.x });
  }
  if (points.length <= kMostNames) {
    for (const name of probe.placeNames(points.filter((point) => point.name), inner)) {
      svg.append("text").attr("class", "in-cell halo").attr("x", name.x).attr("y", name.y).attr("text-anchor", name.anchor).text(name.text);
    }
  }
  return { width, height };
};
