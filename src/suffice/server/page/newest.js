/**
 * Tasks that follow a form as it changes.
 */

const frame = () => new Promise((done) => requestAnimationFrame(done));

/**
 * A function that asks for a task to run: at most once for each frame, one at a time, for the newest change.
 *
 * Answers therefore come in the order of the changes, and the last one is that of the last change.
 */
export function newest(task) {
  let wanted = false;
  let running = false;

  async function run() {
    running = true;
    try {
      while (wanted) {
        await frame();
        wanted = false;
        await task(() => !wanted);
      }
    } finally {
      running = false;
    }
  }

  return () => {
    wanted = true;
    if (!running) run();
  };
}

/** A function that calls another when it was not called for some milliseconds. */
export function settled(task, wait) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => task(...values), wait);
  };
}
