import type { AgentContext } from '@agentclientprotocol/sdk';
import { ConvokeError, type SessionHandle } from '@convoke/sdk';
import type { AskItem } from '@convoke/faces';
import { describe, expect, test } from 'vitest';
import { Dialogs } from '../../src/faces/acp/dialogs.ts';
import { updatesOf } from '../../src/faces/acp/updates.ts';

/** Reads from left to right as another name. */
const deceptive = 'read\u202e elif_eteled';
const shown = 'read⟨U+202E⟩ elif_eteled';
const details = { options: [{ label: deceptive, description: deceptive }] };
const common = { kind: 'ask', id: '1', key: 'int_1', call: 'c', isNew: true } as const;
const asks = [
  { ...common, about: 'permission', name: deceptive, input: {}, data: {} },
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

describe('a dialog for a call that rules ask about', () => {
  const reason = 'Notes are public.';
  const approvers = {
    role: 'admin',
    people: 1,
    not_starter: false,
    clients: false,
    end_users: false,
  };
  const rules = [{ source: 'agent', name: 'notes', reason }];
  const ask = (data: object) =>
    ({ ...common, about: 'permission', name: 'write', input: {}, data }) as unknown as AskItem;

  interface Deciding {
    readonly may?: boolean;
    readonly optionId: string;
    /** Called with each answer. */
    readonly refuse?: (body: { remember?: string }) => void;
  }

  /** What the person is offered and told, and what is answered when they select an option. */
  async function shownTo(asked: AskItem, { may = true, optionId, refuse }: Deciding) {
    const options: string[] = [];
    const answers: unknown[] = [];
    const told: string[] = [];
    const over = Promise.withResolvers<void>();
    const client = {
      request: async (
        _method: string,
        params: { options: { optionId: string; kind: string }[] },
      ) => {
        options.push(...params.options.map((option) => `${option.optionId} ${option.kind}`));
        return { outcome: { outcome: 'selected', optionId } };
      },
      notify: async (_method: string, { update }: { update: { content: { text: string } } }) => {
        told.push(update.content.text);
      },
    } as unknown as AgentContext;
    const interactions = {
      async *pending() {
        yield { interaction_key: 'int_1', can_allow: may };
      },
      answer: async (_key: string, body: object) => {
        answers.push(body);
        refuse?.(body);
        over.resolve();
      },
    };
    const dialogs = new Dialogs({
      client,
      capabilities: {},
      session: { id: 'sess_1', interactions } as unknown as SessionHandle,
      runId: 'run_1',
      link: async () => 'http://console/run_1',
      leave: () => over.resolve(),
      fail: (error) => over.reject(error),
      isCancelled: () => false,
    });
    dialogs.show(asked);
    await over.promise;
    return { options, answers, told: told.join('') };
  }

  const once = ['allow allow_once', 'deny reject_once'];
  const session = ['allow allow_once', 'always allow_always', 'deny reject_once'];

  test('offers to remember it only where the rules permit that, and never more than this call', async () => {
    expect(await shownTo(ask({ rules }), { optionId: 'allow' })).toEqual({
      options: once,
      answers: [{ decision: 'allow' }],
      told: '',
    });
    const wide = ask({ rules, can_remember: 'tool' });
    expect(await shownTo(wide, { optionId: 'always' })).toEqual({
      options: session,
      answers: [{ decision: 'allow', remember: 'exact' }],
      told: '',
    });
  });

  test('is none where other people decide: the turn ends with the reason, who may allow, and where', async () => {
    const others = ask({ rules, approvers });
    const { told, ...rest } = await shownTo(others, { may: false, optionId: 'allow' });
    expect(rest).toEqual({ options: [], answers: [] });
    const why = 'Notes are public. Allowing it needs a person who is admin or owner.';
    expect(told).toContain(`write: http://console/run_1) ${why}`);
    const { answers } = await shownTo(others, { optionId: 'deny' });
    expect(answers).toEqual([{ decision: 'deny' }]);
  });

  test('allows this call where the session can remember no more', async () => {
    const refuse = ({ remember }: { remember?: string }) => {
      const facts = { code: 'invalid_answer', status: 400 } as const;
      if (remember !== undefined) throw new ConvokeError('the session remembers 100', facts);
    };
    const asked = ask({ rules, can_remember: 'exact' });
    const { answers } = await shownTo(asked, { optionId: 'always', refuse });
    expect(answers).toEqual([{ decision: 'allow', remember: 'exact' }, { decision: 'allow' }]);
  });
});
