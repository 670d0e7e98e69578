// Bars lie on their side, so that names of models can be read. One row of bars for each
// `x`, one bar for each series.
"use strict";
probe.drawBars = (svg, marks, figure, series, width) => {
  const thick = 15, between = 12, top = 6, bottom = 42;
  const names = probe.unique(marks.map((mark) => mark.x));
  const left = Math.min(0.4 * width, 10 + d3.max(figure.marks, (mark) => probe.textWidth(mark.x)));
  const right = width - 44;
  const x = d3.scaleLinear().domain(probe.valueDomain(figure, true)).range([left, right]);
  const decimals = probe.decimals(figure.marks.map((mark) => mark.value).filter((value) => value !== null));
  const count = (name) => marks.filter((mark) => mark.x === name).length;
  const end = top + d3.sum(names, (name) => count(name) * thick + between);
  const height = end + bottom;
  const ticks = x.ticks(Math.max(3, Math.min(8, width / 80)));
  for (const tick of ticks) {
    svg.append("line").attr("class", "grid").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", top).attr("y2", end);
    svg.append("text").attr("class", "soft").attr("x", x(tick)).attr("y", end + 16).attr("text-anchor", "middle").text(String(Number(tick.toPrecision(6))));
  }
  let y = top + between / 2;
  for (const name of names) {
    const rows = marks.filter((mark) => mark.x === name);
    probe.label(svg.append("text").attr("x", left - 8).attr("y", y + rows.length * thick / 2 + 4).attr("text-anchor", "end"), name, left - 10)
      .append("title").text(probe.plain(name));
    for (const mark of rows) {
      const group = svg.append("g").attr("class", "mark");
      const middle = y + thick / 2;
      if (mark.value === null) {
        group.append("text").attr("class", "none in-cell").attr("x", x(0) + 5).attr("y", middle + 4).text("unknown");
      } else {
        const style = probe.seriesStyle(series.indexOf(mark.series));
        group.append("rect").attr("class", "f" + style.color).attr("x", Math.min(x(0), x(mark.value))).attr("y", y + 1)
          .attr("width", Math.max(1, Math.abs(x(mark.value) - x(0)))).attr("height", thick - 2);
        if (style.round > 0) {
          group.append("path").attr("class", "axis").attr("d", `M${x(0)} ${y + thick - 1}L${x(mark.value)} ${y + 1}`);
        }
        if (mark.low !== undefined) {
          group.append("path").attr("class", "whisker")
            .attr("d", `M${x(mark.low)} ${middle - 4}v8M${x(mark.low)} ${middle}H${x(mark.high)}M${x(mark.high)} ${middle - 4}v8`);
        }
        group.append("text").attr("class", "in-cell").attr("x", Math.max(x(0), x(mark.value), mark.high === undefined ? -Infinity : x(mark.high)) + 5)
          .attr("y", middle + 4).text(mark.value.toFixed(decimals));
      }
      group.append("title").text(probe.markTitle(mark));
      y += thick;
    }
    y += between;
  }
  svg.append("line").attr("class", "axis").attr("x1", x(0)).attr("x2", x(0)).attr("y1", top).attr("y2", end);
  probe.label(svg.append("text").attr("class", "soft").attr("x", (left + right) / 2).attr("y", end + 36).attr("text-anchor", "middle"),
    figure.y_title, right - left + 40);
  return { width, height };
};
