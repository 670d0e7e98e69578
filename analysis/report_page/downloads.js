// Taking tables out of the page: as a file, or to the clipboard.
"use strict";
probe.download = (name, text, type) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = probe.element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};

// Pages opened from a file have no clipboard interface in some browsers: a selection does.
probe.copy = async (text, what) => {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const area = probe.element("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  probe.announce(done ? what + " copied" : what + " could not be copied");
  return done;
};

probe.copyButton = (label, text, what) => {
  const button = probe.element("button", { type: "button", "aria-label": label + ": " + probe.plain(what) }, label);
  button.addEventListener("click", async () => {
    const done = await probe.copy(text, what);
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
};

// Letters, digits, - and _ only, so that it is a file name anywhere.
probe.fileName = (name) => name.replace(/[^A-Za-z0-9_-]+/g, "_") || "table";

probe.actionsFor = (table) => {
  const actions = probe.element("div", { class: "actions" });
  const save = probe.element(
    "button", { type: "button", "aria-label": "Download CSV: " + probe.plain(table.title) }, "Download CSV");
  save.addEventListener("click", () => probe.download(probe.fileName(table.name) + ".csv", table.csv, "text/csv"));
  actions.append(save, probe.copyButton("Copy CSV", table.csv, table.title));
  if (table.markdown) actions.append(probe.copyButton("Copy Markdown", table.markdown, table.title));
  if (table.latex) actions.append(probe.copyButton("Copy LaTeX", table.latex, table.title));
  return actions;
};
