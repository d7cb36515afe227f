import { type OpenApiDocument, type Html, html, joinHtml } from '@convoke/contract';
import { type Call, callOf, parametersOf } from './call.ts';
import { curlOf } from './curl.ts';
import { pythonOf } from './python.ts';
import { sdkOf } from './sdk.ts';

type Sample = { readonly language: string; readonly title: string; readonly code: string };

/** Renders the call in each language, as tabs that need no script: radio buttons select the visible one. */
export function callSamples(call: Call): Html {
  const { operationId } = call.operation;
  const samples = samplesOf(call);
  const tabs = samples.map(({ language, title }, index) => {
    const id = `${operationId}-${language}`;
    const checked = index === 0 ? html` checked` : html``;
    return html`<input type="radio" name="${operationId}-language" id="${id}" value="${language}"${checked}><label for="${id}">${title}</label>`;
  });
  const panels = samples.map(({ language, code }) => codeBlock(code, `panel ${language}`));
  return html`<div class="tabs" role="group" aria-label="Language of the example">${joinHtml(tabs)}${joinHtml(panels)}</div>`;
}

/** Every example of the page, for programs that check them. */
export function allSamples(document: OpenApiDocument): (Sample & { readonly id: string })[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const call = callOf({ method, path }, operation, parametersOf(document, operation));
      return samplesOf(call).map((sample) => ({ id: operation.operationId, ...sample }));
    }),
  );
}

function samplesOf(call: Call): Sample[] {
  const [sdk, python] = [sdkOf(call), pythonOf(call)];
  return [
    { language: 'curl', title: 'curl', code: curlOf(call) },
    ...(sdk === undefined ? [] : [{ language: 'sdk', title: 'SDK', code: sdk }]),
    ...(python === undefined ? [] : [{ language: 'python', title: 'Python', code: python }]),
  ];
}

/** Renders code that the page's script gives a button to copy it. */
export function codeBlock(code: string, kind = ''): Html {
  return html`<div class="snippet ${kind}"><pre tabindex="0"><code>${code}</code></pre></div>`;
}
