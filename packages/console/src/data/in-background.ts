/**
 * Leaves work to itself: the page shows its outcome in another way. It is the only place where a promise is not
 * awaited; an error that the page does not show goes to the console of the browser.
 */
export function inBackground(work: Promise<unknown> | undefined): void {
  work?.catch((error: unknown) => console.error(error));
}
