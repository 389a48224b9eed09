/**
 * Lists of bars that change in place, so that they move instead of being replaced.
 */

import { element } from "./elements.js";

const MOST_PIECES = 12; // of a bar

/**
 * A function that shows entries `{key, label, text, from, to, color, data, mark, press}` in a list.
 *
 * `from` and `to` are the ends of the bar as shares of the track, and `mark` the place of a mark on it. With `press`
 * the label is a button.
 */
export function barList(list) {
  const items = new Map();

  return (entries) => {
    const keys = new Set(entries.map((each) => each.key));
    for (const [key, item] of items) {
      if (keys.has(key)) continue;
      item.place.remove();
      items.delete(key);
    }
    entries.forEach((entry, i) => {
      if (!items.has(entry.key)) items.set(entry.key, makeItem(entry));
      const item = items.get(entry.key);
      item.update(entry);
      if (list.children[i] !== item.place) list.insertBefore(item.place, list.children[i] ?? null);
    });
  };
}

function makeItem({ press }) {
  const name = element("bdi");
  const label = element(press ? "button" : "span", { type: press && "button", class: "name" }, name);
  const text = element("span", { class: "value" });
  const fill = element("div");
  const mark = element("div", { class: "mark", hidden: true });
  const place = element("li", {}, label, element("div", { class: "track", "aria-hidden": "true" }, fill, mark), text);
  let pressed = press;
  if (press) label.addEventListener("click", () => pressed());

  function update(entry) {
    pressed = entry.press;
    if (name.textContent !== entry.label) name.textContent = entry.label;
    text.textContent = entry.text;
    fill.className = `bar c${entry.color}`;
    fill.style.left = `${(100 * entry.from).toFixed(2)}%`;
    fill.style.width = `${(100 * (entry.to - entry.from)).toFixed(2)}%`;
    mark.hidden = entry.mark === undefined;
    if (!mark.hidden) mark.style.left = `${(100 * entry.mark).toFixed(2)}%`;
    Object.assign(place.dataset, entry.data);
  }

  return { place, update };
}

/** One bar in pieces: shares that sum to at most one, with classes of colours; of many shares, the largest alone. */
export function stackedBar(shares, colors) {
  const track = element("div", { class: "track stacked", "aria-hidden": "true" });
  const most = shares.length > MOST_PIECES ? Math.max(...shares) : 0;
  shares.forEach((share, k) => {
    if (!(share > 0) || share < most) return;
    const piece = element("div", { class: `bar c${colors(k)}` });
    piece.style.width = `${(100 * share).toFixed(2)}%`;
    track.append(piece);
  });
  return track;
}
