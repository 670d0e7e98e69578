// Pictures of items. Each stands once in the data; every place that shows it shares one URL.
"use strict";
probe.thumbnail = (id) => {
  const { pictures } = probe.data;
  if (!Object.hasOwn(pictures, id)) return null;
  const image = probe.element("img", { class: "thumb", alt: "" });
  image.src = "data:image/jpeg;base64," + pictures[id];
  return image;
};
