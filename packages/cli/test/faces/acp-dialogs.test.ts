import type { AgentContext } from '@agentclientprotocol/sdk';
import type { SessionHandle } from '@convoke/sdk';
import type { AskItem } from '@convoke/faces';
import { expect, test } from 'vitest';
import { Dialogs } from '../../src/faces/acp/dialogs.ts';
import { updatesOf } from '../../src/faces/acp/updates.ts';

/** Reads from left to right as another name. */
const deceptive = 'read\u202e elif_eteled';
const shown = 'read⟨U+202E⟩ elif_eteled';
const details = { options: [{ label: deceptive, description: deceptive }] };
const common = { kind: 'ask', id: '1', key: 'int_1', call: 'c', isNew: true } as const;
const asks = [
  { ...common, about: 'permission', name: deceptive, input: {} },
  { ...common, about: 'question', question: deceptive, details },
] as unknown as readonly AskItem[];

/** What an editor is asked, by an agent that chose its words to deceive a person. */
async function requestsOf(ask: AskItem, capabilities: object): Promise<string> {
  const requests: unknown[] = [];
  const left = Promise.withResolvers<void>();
  const client = {
    request: async (_method: string, params: unknown) => {
      requests.push(params);
      return { outcome: { outcome: 'cancelled' }, action: 'cancel' };
    },
    notify: async () => {},
  } as unknown as AgentContext;
  const dialogs = new Dialogs({
    client,
    capabilities,
    session: { id: 'sess_1' } as SessionHandle,
    runId: 'run_1',
    link: async () => '',
    leave: () => left.resolve(),
    fail: (error) => left.reject(error),
    isCancelled: () => false,
  });
  dialogs.show(ask);
  await left.promise;
  return JSON.stringify(requests);
}

test('no title of a dialog hides characters that change how it is read', async () => {
  for (const ask of asks) {
    for (const capabilities of [{}, { elicitation: { form: {} } }]) {
      const texts = await requestsOf(ask, capabilities);
      expect(texts).toContain(shown);
      const values = texts.replaceAll(/"(const|rawInput)":("[^"]*"|\{[^}]*\})/g, '');
      expect(values).not.toContain('\u202e');
    }
    expect(JSON.stringify(updatesOf(ask, 'run_1'))).toContain(`"title":"${shown}"`);
  }
});
