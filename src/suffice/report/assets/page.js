/** Starts what a report computes in the browser, and opens folded parts before printing. */

import { run } from "./what_if.js";

const data = document.getElementById("what-if-data");
if (data) run(document.querySelector("[data-what-if]"), JSON.parse(data.textContent));

addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
