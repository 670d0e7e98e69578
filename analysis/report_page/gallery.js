// Neighbours as pictures: the item of a table's first column of items, then those of the
// second, with what the table says about each.
"use strict";
(() => {
  const kFirstStrips = 12;

  const picture = (id, words) =>
    probe.element("div", {}, probe.thumbnail(id), id, words.map((text) => probe.element("div", { class: "soft" }, text)));

  const strip = (table, rows, query, neighbor) => {
    const told = table.columns.map((column, c) => c).filter((c) => c > neighbor);
    return probe.element("li", { class: "strip" }, picture(rows[0][query], []), rows.map((row) =>
      picture(row[neighbor], told.map((c) => (Array.isArray(row[c]) ? `${table.columns[c].title} ${row[c][0]}` : row[c])).filter(Boolean))));
  };

  // Null unless the table names items in two columns and there are pictures.
  probe.gallery = (table) => {
    const [query, neighbor] = table.columns.map((column, c) => (column.items ? c : -1)).filter((c) => c >= 0);
    if (neighbor === undefined || !table.rows.some((row) => Object.hasOwn(probe.data.pictures, row[query]))) return null;
    const groups = [...d3.group(table.rows.filter((row) => row[query] !== null && row[neighbor] !== null), (row) => row[query]).values()];
    const list = probe.element("ul", { class: "gallery" },
      groups.slice(0, kFirstStrips).map((rows) => strip(table, rows, query, neighbor)));
    if (groups.length <= kFirstStrips) return list;
    const more = probe.element("button", { type: "button" }, `Show all ${groups.length} as pictures`);
    more.addEventListener("click", () => {
      list.append(...groups.slice(kFirstStrips).map((rows) => strip(table, rows, query, neighbor)));
      more.remove();
    });
    return [list, more];
  };
})();
