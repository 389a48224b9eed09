/* The list of sections on a phone closes when a section is chosen. */
"use strict";

document.addEventListener("click", (event) => {
  if (event.target.closest("dialog a[href^='#']")) event.target.closest("dialog").close();
});
