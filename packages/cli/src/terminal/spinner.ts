const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;
/** Delay before the spinner appears. */
const delayMs = 1000;

let timer: NodeJS.Timeout | undefined;
let isDrawn = false;

/**
 * Shows a spinner with the seconds it has been waiting, on standard error, until something is printed; silent in a
 * script.
 */
export function armSpinner(text: string): void {
  clearSpinner();
  if (!process.stderr.isTTY) return;
  let frame = 0;
  const draw = () => {
    isDrawn = true;
    const seconds = Math.floor((delayMs + frame * frameMs) / 1000);
    process.stderr.write(`\r${frames[frame++ % frames.length]} ${text} ${seconds} s`);
    timer = setTimeout(draw, frameMs).unref();
  };
  timer = setTimeout(draw, delayMs).unref();
}

export function clearSpinner(): void {
  clearTimeout(timer);
  if (isDrawn) process.stderr.write('\r\u001b[K');
  isDrawn = false;
}
