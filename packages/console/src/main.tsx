import { render } from 'preact';
import { startSession } from './session/session.ts';
import { App } from './shell/app.tsx';
import { startRouter } from './shell/router.ts';
import { keepSettings } from './shell/settings.ts';
import { startShortcuts } from './shell/shortcuts.ts';

keepSettings();
startRouter();
startShortcuts();
const root = document.querySelector('#app');
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
void startSession();
