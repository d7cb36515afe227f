const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;
/** Whoever waits longer than this is shown that something is under way. */
const patienceMs = 1000;

let timer: NodeJS.Timeout | undefined;
let isDrawn = false;

/** Turns on standard error while a person waits; silent in a script. Anything that is printed ends it. */
export function armSpinner(text: string): void {
  clearSpinner();
  if (!process.stderr.isTTY) return;
  let frame = 0;
  const draw = () => {
    isDrawn = true;
    process.stderr.write(`\r${frames[frame++ % frames.length]} ${text}`);
    timer = setTimeout(draw, frameMs).unref();
  };
  timer = setTimeout(draw, patienceMs).unref();
}

export function clearSpinner(): void {
  clearTimeout(timer);
  if (isDrawn) process.stderr.write('\r\u001b[K');
  isDrawn = false;
}
