// A sortable table. A cell is null (unknown), a text, or [what is shown, what is sorted by].
"use strict";
(() => {
  const kFirstRows = 100; // longer tables show these until asked for all
  const collator = new Intl.Collator(undefined, { numeric: true });

  const keyOf = (cell) => (Array.isArray(cell) ? cell[1] : cell);

  // Unknown values come last, whichever way the column is sorted.
  const compare = (a, b, sign) => {
    const x = keyOf(a), y = keyOf(b);
    if (x === null || y === null) return (x === null) - (y === null);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * collator.compare(String(x), String(y));
  };

  // "85.5 [80.1, 89.6] (47/55)": the number first, the rest softly.
  const shown = (text) => {
    const space = text.search(/ [[(]/);
    if (space < 0) return [text];
    return [text.slice(0, space) + " ", probe.element("span", { class: "rest" }, text.slice(space + 1))];
  };

  const cellElement = (cell, column) => {
    if (cell === null) return probe.element("td", { class: column.kind === "text" ? "unknown" : "unknown right" }, "unknown");
    if (Array.isArray(cell)) return probe.element("td", { class: "right" }, shown(cell[0]));
    if (!column.items) return probe.element("td", {}, cell);
    return probe.element("td", { class: "item" }, probe.thumbnail(cell), cell);
  };

  const order = (rows, state) => {
    if (state.column < 0) return rows;
    const sign = state.direction === "ascending" ? 1 : -1;
    return [...rows].sort((a, b) => compare(a[state.column], b[state.column], sign));
  };

  // The <table> of `table` within a box that scrolls sideways by itself.
  probe.tableGrid = (table) => {
    const state = { column: -1, direction: "none", all: table.rows.length <= kFirstRows };
    const body = probe.element("tbody");
    const heads = table.columns.map((column) =>
      probe.element("th", { scope: "col", "aria-sort": "none", class: column.kind === "text" ? null : "right" },
        probe.element("button", { type: "button" }, column.title)));
    const fill = () => {
      const rows = order(table.rows, state);
      body.replaceChildren(...(state.all ? rows : rows.slice(0, kFirstRows)).map((row) =>
        probe.element("tr", {}, row.map((cell, c) => cellElement(cell, table.columns[c])))));
    };
    heads.forEach((head, c) => head.firstChild.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      state.direction = next[head.getAttribute("aria-sort")];
      state.column = state.direction === "none" ? -1 : c;
      heads.forEach((other) => other.setAttribute("aria-sort", other === head ? state.direction : "none"));
      fill();
      probe.announce(state.column < 0 ? "in the order of the result"
        : "sorted by " + table.columns[c].title + ", " + state.direction);
    }));
    fill();
    const box = probe.element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": probe.plain(table.title) },
      probe.element("table", {}, probe.element("caption", { class: "unseen" }, table.title),
        probe.element("thead", {}, probe.element("tr", {}, heads)), body));
    if (state.all) return [box];
    const more = probe.element("button", { type: "button" }, `Show all ${table.rows.length} rows`);
    const count = probe.element("p", { class: "note" }, `${kFirstRows} of ${table.rows.length} rows are shown. `, more);
    more.addEventListener("click", () => {
      state.all = true;
      fill();
      count.remove();
      box.focus();
    });
    return [box, count];
  };

  // Tables of neighbours are looked at as rows of pictures first; the table keeps small ones.
  // Rows that are said to be about other images keep a frame of their own.
  probe.tableBlock = (table, id) => {
    const gallery = probe.gallery(table);
    const kind = /not comparable/.test(table.title) ? "block apart" : gallery ? "block small" : "block";
    return probe.element("section", { class: kind, id },
      probe.element("h3", {}, table.title), gallery, probe.actionsFor(table), probe.tableGrid(table),
      table.note ? probe.element("p", { class: "note" }, table.note) : null);
  };
})();
