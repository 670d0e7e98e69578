// The page: summary, then each result with its warnings, figures, tables, notes, failures
// and provenance.
"use strict";
(() => {
  probe.data = JSON.parse(document.getElementById("data").textContent);

  // "match, demo": the command and, if there is one, its encoder.
  probe.resultName = (result) => [result.command, result.provenance.encoder].filter(Boolean).join(", ");

  const facts = (provenance) =>
    probe.element("dl", { class: "facts" }, Object.entries(provenance).flatMap(([name, value]) =>
      [probe.element("dt", {}, name), probe.element("dd", {}, value)]));

  const failures = (list, title, id) => {
    if (list.length === 0) return null;
    const named = list.some((failure) => failure.path);
    const text = (name, heading) => ({ name, title: heading, kind: "text" });
    const table = {
      title,
      columns: [text("id", "item"), ...(named ? [text("path", "file")] : []), text("reason", "reason")],
      rows: list.map((failure) => [failure.id, ...(named ? [failure.path || ""] : []), failure.reason]),
    };
    return probe.element("section", { class: "block failures", id }, probe.element("h3", {}, title), probe.tableGrid(table));
  };

  const section = (result, r) => {
    const id = `result-${r}`;
    return probe.element("section", { class: "result", id },
      probe.element("h2", {}, probe.resultName(result)), probe.element("p", { class: "from" }, "from " + result.file),
      result.warnings.length === 0 ? null
        : probe.element("div", { class: "warnings" }, probe.element("p", {}, probe.element("b", {}, "Before quoting these numbers")),
          probe.element("ul", {}, result.warnings.map((text) => probe.element("li", {}, text)))),
      result.figures.map((figure, f) => probe.figureBlock(figure, `${id}-figure-${f}`)),
      result.tables.map((table, t) => probe.tableBlock(table, `${id}-table-${t}`)),
      failures(result.failures, "Items that failed", `${id}-failures`),
      result.notes.length === 0 ? null
        : probe.element("section", { class: "block notes" }, probe.element("h3", {}, "Notes"),
          probe.element("ul", {}, result.notes.map((text) => probe.element("li", {}, text)))),
      probe.element("section", { class: "block", id: `${id}-provenance` }, probe.element("h3", {}, "Provenance"), facts(result.provenance)));
  };

  const link = (id, text) => probe.element("a", { href: "#" + id }, text);

  const contents = () =>
    probe.element("ul", {}, probe.element("li", {}, link("summary", "Summary")), probe.data.results.map((result, r) =>
      probe.element("li", {}, link(`result-${r}`, probe.resultName(result)), probe.element("ul", {},
        result.figures.map((figure, f) => probe.element("li", {}, link(`result-${r}-figure-${f}`, figure.title))),
        result.tables.map((table, t) => probe.element("li", {}, link(`result-${r}-table-${t}`, table.title)))))));

  document.title = probe.plain(probe.data.title);
  document.getElementById("title").textContent = probe.plain(probe.data.title);
  document.getElementById("contents").append(contents());
  document.getElementById("main").append(
    ...[probe.summary(), probe.data.results.map(section),
      failures(probe.data.missing, "Pictures that could not be read", "missing"),
      probe.element("section", { class: "result", id: "about" }, probe.element("h2", {}, "About this page"), facts(probe.data.provenance))]
      .flat().filter(Boolean));
  probe.startTheme();
})();
