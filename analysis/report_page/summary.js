// The numbers that matter most: of each result, the short tables that hold accuracies, else
// the first rows of its first numbers.
"use strict";
(() => {
  const kShort = 4; // rows
  const kMost = 8; // numbers of one result

  // The cells left of the numbers, as "k = 5" or as the first two words.
  const rowName = (table, row, column) => {
    const cells = row.slice(0, column).map((cell, c) => {
      const { items, kind, title } = table.columns[c];
      if (cell === null || items) return null;
      return Array.isArray(cell) ? (kind === "count" ? `${title} = ${cell[0]}` : null) : cell;
    });
    return cells.filter(Boolean).slice(0, 2).join(", ");
  };

  // "hit@k % [95 %] (right/all)" without what the brackets explain.
  const shortTitle = (title) => title.replace(/ ?[[(][^\])]*[\])]/g, "").trim();

  const columnsOf = (table, kind) => table.columns.map((column, c) => (column.kind === kind ? c : -1)).filter((c) => c >= 0);

  const numbersOf = (table, columns) => table.rows.slice(0, kShort).flatMap((row) => columns.map((c) => {
    const cell = row[c], name = rowName(table, row, c);
    const title = columns.length > 1 || !name ? shortTitle(table.columns[c].title) : "";
    return { name: [name, title].filter(Boolean).join(": "), text: cell === null ? "unknown" : Array.isArray(cell) ? cell[0] : cell };
  }));

  // [{title, numbers}]
  const headlines = (result) => {
    const short = result.tables.filter((table) => table.rows.length > 0 && table.rows.length <= kShort && columnsOf(table, "accuracy").length > 0)
      .map((table) => {
        const columns = columnsOf(table, "accuracy");
        const unit = columns.length === 1 ? ": " + shortTitle(table.columns[columns[0]].title) : "";
        return { title: table.title + unit, numbers: numbersOf(table, columns) };
      });
    if (short.length > 0) return short;
    for (const kind of ["accuracy", "number", "count"]) {
      const table = result.tables.find((entry) => entry.rows.length > 0 && columnsOf(entry, kind).length > 0);
      if (!table) continue;
      const column = columnsOf(table, kind)[0];
      return [{ title: table.title + ": " + shortTitle(table.columns[column].title), numbers: numbersOf(table, [column]) }];
    }
    return [];
  };

  const card = (result, index) => {
    const list = probe.element("dl");
    let room = kMost;
    for (const { title, numbers } of headlines(result)) {
      if (room <= 0) break;
      list.append(probe.element("dt", { class: "of" }, title));
      for (const { name, text } of numbers.slice(0, room)) {
        const [number, ...rest] = text.split(" ");
        list.append(probe.element("dt", {}, name),
          probe.element("dd", {}, probe.element("b", {}, number), " ", probe.element("span", { class: "rest" }, rest.join(" "))));
      }
      room -= numbers.length;
    }
    return probe.element("div", { class: "card" },
      probe.element("h3", {}, probe.element("a", { href: `#result-${index}` }, probe.resultName(result))), list,
      result.failures.length > 0
        ? probe.element("p", { class: "note" }, `${result.failures.length} ${result.failures.length === 1 ? "item" : "items"} failed`) : null);
  };

  probe.summary = () =>
    probe.element("section", { class: "block", id: "summary" }, probe.element("h2", {}, "Summary"),
      probe.element("div", { class: "cards" }, probe.data.results.map(card)));
})();
