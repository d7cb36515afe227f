import { render } from 'preact';
import { inBackground } from './data/in-background.ts';
import { startSession } from './session/session-flow.ts';
import { App } from './frame/app.tsx';
import { startRouter } from './page/router.ts';
import { keepTextVisible } from './page/safe-text.ts';
import { keepSettings } from './page/settings.ts';
import { keepTitle } from './page/title.ts';
import { startShortcuts } from './page/shortcuts.ts';

// In a frame the page is the end of a silent sign-in, whose address the page around it reads (D-261).
if (window === window.top) start();

function start(): void {
  keepTextVisible();
  keepSettings();
  keepTitle();
  startRouter();
  startShortcuts();
  const root = document.querySelector('#app');
  if (root !== null) {
    root.replaceChildren();
    render(<App />, root);
  }
  inBackground(startSession());
}
