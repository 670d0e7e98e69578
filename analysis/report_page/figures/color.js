// Colours of series: eight that stand out on light and dark, and other shapes and dashes
// where there are more.
"use strict";
probe.kColors = 8;
probe.seriesStyle = (index) => ({
  color: index % probe.kColors,
  round: Math.floor(index / probe.kColors),
  dash: ["none", "6 3", "2 3", "8 3 2 3"][Math.floor(index / probe.kColors) % 4],
  symbol: d3.symbol(d3.symbolsFill[Math.floor(index / probe.kColors) % d3.symbolsFill.length], 64)(),
});

probe.unique = (values) => [...new Set(values)];

// Names of series with their colours, above the figure.
probe.legend = (series, kind) => {
  const list = probe.element("ul", { class: "legend", "aria-label": "Legend" });
  series.forEach((name, i) => {
    const style = probe.seriesStyle(i);
    const key = d3.create("svg:svg").attr("width", kind === "lines" ? 26 : 12).attr("height", 12).attr("aria-hidden", "true");
    if (kind === "lines") {
      key.append("line").attr("class", "line l" + style.color).attr("x2", 26).attr("y1", 6).attr("y2", 6)
        .attr("stroke-dasharray", style.dash);
    }
    if (kind === "bars") {
      key.append("rect").attr("class", "f" + style.color).attr("width", 12).attr("height", 12).attr("rx", 2);
      if (style.round > 0) key.append("path").attr("class", "axis").attr("d", "M0 12L12 0");
    } else {
      key.append("path").attr("class", "f" + style.color).attr("d", style.symbol)
        .attr("transform", `translate(${kind === "lines" ? 13 : 6},6)`);
    }
    list.append(probe.element("li", {}, key.node(), name || "(no name)"));
  });
  return list;
};
