// Chord diagram: a ribbon from each `series` to `x`, coloured by where it starts.
"use strict";
probe.drawChord = (svg, marks, figure, series, width) => {
  const names = probe.unique([...marks.map((mark) => mark.series), ...marks.map((mark) => mark.x)]);
  const place = new Map(names.map((name, i) => [name, i]));
  const matrix = names.map(() => names.map(() => 0));
  const drawn = marks.filter((mark) => mark.value > 0);
  for (const mark of drawn) matrix[place.get(mark.series)][place.get(mark.x)] += mark.value;
  const size = Math.min(width, 680);
  const room = Math.min(size * 0.26, 14 + d3.max(names, (name) => probe.textWidth(name)));
  const outer = size / 2 - room, inner = outer - 12;
  const layout = d3.chordDirected().padAngle(Math.min(0.04, 2 / names.length)).sortSubgroups(d3.descending)(matrix);
  const color = (i) => d3.hcl(360 * i / names.length + 20, 52, 58).formatHex();
  const arc = d3.arc().innerRadius(inner).outerRadius(outer);
  const ribbon = d3.ribbonArrow().radius(inner - 2).padAngle(1 / Math.max(1, inner)).headRadius(8);
  const center = svg.append("g").attr("transform", `translate(${size / 2},${size / 2})`);
  let last = -Infinity;
  for (const group of layout.groups) {
    if (group.value === 0) continue;
    const name = names[group.index];
    const part = center.append("g");
    part.append("path").attr("d", arc(group)).attr("fill", color(group.index));
    part.append("title").text(probe.plain(name));
    const angle = (group.startAngle + group.endAngle) / 2;
    if ((angle - last) * outer < 12) continue; // no room: the table of numbers has the name
    last = angle;
    const flip = angle > Math.PI;
    probe.label(center.append("text").attr("text-anchor", flip ? "end" : "start").attr("dy", "0.35em")
      .attr("transform", `rotate(${angle * 180 / Math.PI - 90}) translate(${outer + 6},0)${flip ? " rotate(180)" : ""}`), name, room - 10);
  }
  const valueOf = new Map(drawn.map((mark) => [mark.series + "\u0000" + mark.x, mark]));
  for (const chord of layout) {
    const mark = valueOf.get(names[chord.source.index] + "\u0000" + names[chord.target.index]);
    const part = center.append("g").attr("class", "mark");
    part.append("path").attr("class", "ribbon").attr("d", ribbon(chord))
      .attr("fill", color(chord.source.index)).attr("stroke", color(chord.source.index));
    part.append("title").text(mark ? probe.markTitle(mark) : "");
  }
  return { width: size, height: size };
};
