// Text and elements. Everything that comes from a result goes in through here, as text.
"use strict";
var probe = {};

// Characters that steer instead of showing (controls, changes of direction) are spelt out.
probe.plain = (text) =>
  String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => {
    if (mark === "\n") return "\\n";
    if (mark === "\t") return "\\t";
    return "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0");
  });

// An element with attributes and children; texts become text nodes, null is passed over.
probe.element = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === "string" ? probe.plain(child) : child);
  }
  return element;
};

// Says it to those who listen instead of looking.
probe.announce = (text) => {
  document.getElementById("status").textContent = probe.plain(text);
};

// As many decimals as these numbers are worth when they stand side by side, and no more
// than they have.
probe.decimals = (values) => {
  const size = Math.max(0, ...values.map(Math.abs));
  const worth = size >= 10 ? 1 : size >= 1 ? 2 : 3;
  const has = (value) => (String(Number(value.toFixed(worth))).split(".")[1] || "").length;
  return Math.max(0, ...values.map(has));
};
