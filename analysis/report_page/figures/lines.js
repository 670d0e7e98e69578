// Lines: one for each series, its points in order of position; a point of unknown value
// breaks the line.
"use strict";
(() => {
  // Small boxes along a path, which names of points should not cover.
  const boxesAlong = (path) => {
    const boxes = [], length = path.getTotalLength();
    for (let at = 6; at < length; at += 6) {
      const { x, y } = path.getPointAtLength(at);
      boxes.push({ x0: x - 1, x1: x + 1, y0: y - 1, y1: y + 1 });
    }
    return boxes;
  };

  probe.drawLines = (svg, marks, figure, series, width) => {
    const height = Math.round(Math.max(280, Math.min(420, width * 0.55)));
    const { x, y, inner } = probe.plane(svg, marks, figure, width, height, probe.valueDomain(figure, false));
    const line = d3.line().defined((mark) => mark.value !== null).x((mark) => x(mark.position)).y((mark) => y(mark.value));
    const points = [], shy = [];
    const unknownAt = new Map();
    series.forEach((name, i) => {
      const own = marks.filter((mark) => mark.series === name).sort((a, b) => a.position - b.position);
      if (own.length === 0) return;
      const style = probe.seriesStyle(i);
      const path = svg.append("path").attr("class", "line l" + style.color).attr("stroke-dasharray", style.dash).attr("d", line(own));
      shy.push(...boxesAlong(path.node()));
      for (const mark of own) {
        const at = x(mark.position);
        if (mark.value === null) {
          const nth = unknownAt.get(at) || 0;
          unknownAt.set(at, nth + 1);
          probe.unknownPoint(svg, mark, at, inner, nth);
          continue;
        }
        const group = svg.append("g").attr("class", "mark");
        probe.whisker(group, at, y, mark);
        group.append("path").attr("class", "dot f" + style.color).attr("d", style.symbol).attr("transform", `translate(${at},${y(mark.value)})`);
        group.append("title").text(probe.markTitle(mark));
        points.push({ x: at, y: y(mark.value), name: mark.x });
      }
    });
    for (const name of probe.placeNames(points.filter((point) => point.name), inner, shy)) {
      svg.append("text").attr("class", "in-cell halo").attr("x", name.x).attr("y", name.y).attr("text-anchor", name.anchor).text(name.text);
    }
    return { width, height };
  };
})();
