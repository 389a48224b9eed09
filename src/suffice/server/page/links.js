/**
 * Links to other pages and files of the server.
 */

import { element } from "./elements.js";
import { ask, hasToken } from "./server.js";

const KEPT = 60_000; // milliseconds that a browser has to save a file

/** Let an anchor lead to an address; a browser sends no token with a link, so with one the answer becomes a file. */
export function linkTo(anchor, address, file, { accept = "text/html", failed }) {
  anchor.href = address;
  anchor.addEventListener("click", async (event) => {
    if (!hasToken()) return;
    event.preventDefault();
    try {
      const answer = await ask(address, { headers: { Accept: accept } });
      const content = URL.createObjectURL(await answer.blob());
      element("a", { href: content, download: file }).click();
      setTimeout(() => URL.revokeObjectURL(content), KEPT);
      failed(null);
    } catch (error) {
      failed(error.message);
    }
  });
}
