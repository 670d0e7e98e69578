// The plane that lines and scatter share: two number axes with grid and titles.
"use strict";
(() => {
  const padded = (low, high) => {
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    return [low - room, high + room];
  };

  // Positions that spread over more than a decade read better on a logarithmic axis.
  const positionScale = (marks) => {
    const positions = marks.map((mark) => mark.position);
    const low = d3.min(positions), high = d3.max(positions);
    if (low > 0 && high / low > 12) return { log: true, scale: d3.scaleLog().domain([low / 1.25, high * 1.25]) };
    return { log: false, scale: d3.scaleLinear().domain(padded(low, high)) };
  };

  // What values may take in all panels of a figure; percentages keep to 0..100.
  probe.valueDomain = (figure, fromZero) => {
    const ends = figure.marks.flatMap((mark) => [mark.value, mark.low, mark.high])
      .filter((value) => value !== null && value !== undefined);
    if (ends.length === 0) return [0, 1];
    let low = d3.min(ends), high = d3.max(ends);
    if (fromZero) return d3.scaleLinear().domain([Math.min(0, low), Math.max(0, high) || 1]).nice(6).domain();
    [low, high] = padded(low, high);
    if (/%/.test(figure.y_title) && d3.min(ends) >= 0 && d3.max(ends) <= 100) {
      low = Math.max(0, low);
      high = Math.min(100, high);
    }
    return d3.scaleLinear().domain([low, high]).nice(10).domain();
  };

  const tickText = (value) => (Math.abs(value) >= 1e5 ? d3.format("~s")(value) : String(Number(value.toPrecision(6))));

  // Draws the axes; returns the scales and where marks of unknown value stand.
  probe.plane = (svg, marks, figure, width, height, domain) => {
    const y = d3.scaleLinear().domain(domain);
    const ticks = y.ticks(6);
    const left = 26 + d3.max(ticks, (tick) => probe.textWidth(tickText(tick)));
    const inner = { left, right: width - 12, top: 10, bottom: height - 46 };
    y.range([inner.bottom, inner.top]);
    const { log, scale: x } = positionScale(marks);
    x.range([inner.left, inner.right]);
    for (const tick of ticks) {
      svg.append("line").attr("class", "grid").attr("x1", inner.left).attr("x2", inner.right).attr("y1", y(tick)).attr("y2", y(tick));
      svg.append("text").attr("class", "soft").attr("x", inner.left - 6).attr("y", y(tick) + 4).attr("text-anchor", "end").text(tickText(tick));
    }
    svg.append("line").attr("class", "axis").attr("x1", inner.left).attr("x2", inner.right).attr("y1", inner.bottom).attr("y2", inner.bottom);
    let last = -Infinity;
    for (const tick of x.ticks(Math.max(3, Math.min(8, width / 90)))) {
      const text = tickText(tick), half = probe.textWidth(text) / 2;
      if (x(tick) - half < last + 8) continue; // a logarithmic axis has ticks that crowd
      last = x(tick) + half;
      svg.append("line").attr("class", "axis").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", inner.bottom).attr("y2", inner.bottom + 4);
      svg.append("text").attr("class", "soft").attr("x", x(tick)).attr("y", inner.bottom + 18).attr("text-anchor", "middle").text(text);
    }
    const across = figure.x_title + (log ? " (logarithmic)" : "");
    probe.label(svg.append("text").attr("class", "soft").attr("x", (inner.left + inner.right) / 2).attr("y", height - 6)
      .attr("text-anchor", "middle"), across, inner.right - inner.left);
    probe.label(svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
      .attr("transform", `translate(11,${(inner.top + inner.bottom) / 2}) rotate(-90)`), figure.y_title, inner.bottom - inner.top);
    return { x, y, inner };
  };

  const exact = (value) => String(Number(value.toPrecision(6)));

  probe.markTitle = (mark) => {
    const value = mark.value === null ? "unknown" : exact(mark.value);
    const interval = mark.low === undefined ? "" : ` [${exact(mark.low)}, ${exact(mark.high)}]`;
    return probe.plain([mark.group, mark.series, mark.x].filter(Boolean).join(", ") + ": " + value + interval);
  };

  // A point whose value is not known: a dashed line over its position, with the word.
  probe.unknownPoint = (svg, mark, at, inner, nth) => {
    const group = svg.append("g").attr("class", "mark");
    group.append("line").attr("class", "missing").attr("x1", at).attr("x2", at).attr("y1", inner.top).attr("y2", inner.bottom);
    group.append("text").attr("class", "none in-cell").attr("text-anchor", "start")
      .attr("transform", `translate(${at - 3},${inner.bottom - 5 - nth * 50}) rotate(-90)`).text("unknown");
    group.append("title").text(probe.markTitle(mark));
  };

  probe.whisker = (svg, at, y, mark) => {
    if (mark.low === undefined) return;
    svg.append("path").attr("class", "whisker")
      .attr("d", `M${at - 4} ${y(mark.low)}h8M${at} ${y(mark.low)}V${y(mark.high)}M${at - 4} ${y(mark.high)}h8`);
  };
})();
