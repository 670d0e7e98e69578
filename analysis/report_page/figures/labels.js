// Words inside figures: how wide they are, cutting those that are too wide, and placing
// the names of points so that none covers another.
"use strict";
(() => {
  const canvas = document.createElement("canvas").getContext("2d");

  probe.textWidth = (text, size = 12) => {
    canvas.font = `${size}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
    return canvas.measureText(probe.plain(text)).width;
  };

  // The text, or as much of it as fits with an ellipsis.
  probe.fitted = (text, width, size = 12) => {
    const whole = probe.plain(text);
    if (probe.textWidth(whole, size) <= width) return whole;
    const letters = [...whole];
    while (letters.length > 1 && probe.textWidth(letters.join("") + "…", size) > width) letters.pop();
    return letters.join("").trimEnd() + "…";
  };

  // Puts `text` into the SVG selection `at`, cut to `width`; the whole text is its tooltip.
  probe.label = (at, text, width, size = 12) => {
    at.text(probe.fitted(text, width, size));
    return at;
  };

  const overlap = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

  // Names of points: right, left, above or below, whichever is free; else none (the table
  // of numbers has them all). Places in `shy` are used only if no other is free.
  // `points`: {x, y, name}; `inner`: the plane. Returns {x, y, anchor, text}.
  probe.placeNames = (points, inner, shy = []) => {
    const boxes = [...points.map(({ x, y }) => ({ x0: x - 5, x1: x + 5, y0: y - 5, y1: y + 5 }))];
    const placed = [];
    for (const point of points) {
      const text = probe.fitted(point.name, 150, 11);
      const wide = probe.textWidth(text, 11);
      const choices = [
        { x: point.x + 8, y: point.y + 4, anchor: "start", x0: point.x + 7 },
        { x: point.x - 8, y: point.y + 4, anchor: "end", x0: point.x - 9 - wide },
        { x: point.x, y: point.y - 9, anchor: "middle", x0: point.x - wide / 2 },
        { x: point.x, y: point.y + 17, anchor: "middle", x0: point.x - wide / 2 },
      ];
      const free = choices.map((choice) => ({ ...choice, text, x1: choice.x0 + wide + 2, y0: choice.y - 11, y1: choice.y + 3 }))
        .filter((box) => box.x0 > inner.left && box.x1 <= inner.right + 12 && box.y0 >= 0 && box.y1 <= inner.bottom)
        .filter((box) => !boxes.some((other) => overlap(box, other)));
      const best = free.find((box) => !shy.some((other) => overlap(box, other))) || free[0];
      if (!best) continue;
      boxes.push(best);
      placed.push(best);
    }
    return placed;
  };
})();
