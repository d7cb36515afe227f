// Agents as code with LangGraph. Prints what each scenario did, as one JSON object.
import { agent } from '@convoke/agent';
import {
  agentTool,
  callAgent,
  durableTools,
  receive,
  runGraph,
  sleep,
  sleepTool,
  step,
} from '@convoke/agent/langgraph';
import { rehearse } from '@convoke/agent/test';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, humanInTheLoopMiddleware } from 'langchain';
import { z } from 'zod';
import { answer, calling, counted, ruled, rules, scenarios, work } from './scenarios.ts';

const effects = counted();
const look = tool(({ at }) => effects.done(`look ${at}`, `saw ${at}`), {
  name: 'look',
  description: 'Looks at something',
  schema: z.object({ at: z.string() }),
});
const refund = tool(({ order }) => effects.done(`refund ${order}`, `R-${order}`), {
  name: 'refund',
  description: 'Refunds an order',
  schema: z.object({ order: z.number() }),
});
const ask = tool(
  ({ question, options }) => {
    effects.done('ask');
    return interrupt({ question, options });
  },
  {
    name: 'ask_user',
    description: 'Asks the user',
    schema: z.object({ question: z.string(), options: z.array(z.string()).optional() }),
  },
);
// Counts an answer to something else.
const survey = tool(
  ({ topic, times }) => {
    const said = Array.from({ length: times }, (_, index) => {
      const question = `${topic} ${index}?`;
      const got = interrupt(question);
      return got === `re ${question}` ? got : effects.done(`${question} got ${got}`, got);
    });
    return said.join(', ');
  },
  {
    name: 'survey',
    description: 'Asks the user several things',
    schema: z.object({ topic: z.string(), times: z.number() }),
  },
);
const take = tool(({ name }) => `${name} ${receive(name).data}`, {
  name: 'take',
  description: 'Waits for a message',
  schema: z.object({ name: z.string() }),
});
/** Asks twice and acts between, in a graph of its own. */
const consult = (name) => {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode('one', () => ({ messages: [{ role: 'user', content: `${interrupt(`${name} 1?`)}` }] }))
    .addNode('act', async () => {
      await step('act', () => effects.done(`act ${name}`));
      return {};
    })
    .addNode('two', ({ messages }) => {
      const said = `${messages.at(-1).text}, ${interrupt(`${name} 2?`)}`;
      return { messages: [{ role: 'user', content: said }] };
    })
    .addEdge(START, 'one')
    .addEdge('one', 'act')
    .addEdge('act', 'two')
    .compile();
  return tool(async () => (await inner.invoke({ messages: [] })).messages.at(-1).text, {
    name,
    description: 'Consults somebody',
    schema: z.object({}),
  });
};
const chat = () => new ChatOpenAI({ model: 'scripted' });
const messages = (ctx) => ({ messages: [{ role: 'user', content: ctx.prompt }] });

const loop =
  (tools, before, plain = []) =>
  () =>
    agent((ctx) => {
      const durable = [...durableTools(tools), ...plain];
      const model = chat().bindTools(durable);
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('before', before ?? (() => ({})))
        .addNode('model', async (state) => ({ messages: [await model.invoke(state.messages)] }))
        .addNode('tools', new ToolNode(durable))
        .addEdge(START, 'before')
        .addEdge('before', 'model')
        .addConditionalEdges('model', toolsCondition)
        .addEdge('tools', 'model');
      return runGraph(ctx, (checkpointer) => graph.compile({ checkpointer }), messages(ctx));
    });
const looking = loop([look, refund]);

const approving = () =>
  agent((ctx) => {
    const tools = durableTools([look, refund, ask]);
    const middleware = [humanInTheLoopMiddleware({ interruptOn: { refund: true } })];
    const compile = (checkpointer) =>
      createAgent({ model: chat(), tools, middleware, checkpointer });
    return runGraph(ctx, compile, messages(ctx));
  });

/** What a person is asked if a node is interrupted with this value is the message. */
async function interrupted(...value) {
  const odd = () => ({
    messages: [{ role: 'user', content: `@@ say ${interrupt(...value)}` }],
  });
  const seen = [];
  const result = await rehearse(loop([look], odd)(), {
    prompt: 'go',
    answer: ({ question }) => (seen.push(question), 'ok'),
  });
  return { ...result, message: seen[0] };
}

const matching = ({ question }) => `re ${question}`;
const allowing = (asked) => (asked.kind === 'question' ? 'late' : true);

await scenarios(effects, {
  async 'a graph of one’s own'(kill) {
    const prompt = '@@ chat && call look {"at":"a"} && call refund {"order":7} ;; chat && last';
    return kill(looking, { prompt });
  },
  async 'two interrupts in one node'(kill) {
    const twice = async () => {
      const [one, two] = [interrupt('One?'), interrupt({ question: 'Two?', options: ['2'] })];
      return { messages: [{ role: 'user', content: `@@ say ${one} ${two}` }] };
    };
    return kill(loop([look], twice), { prompt: 'go' });
  },
  async 'a node that speaks and then steps'(kill) {
    const speaking = async () => {
      await chat().invoke('@@ chat');
      await step('note', () => effects.done('note'));
      await chat().invoke('@@ chat');
      return { messages: [{ role: 'user', content: '@@ chat' }] };
    };
    return kill(loop([look], speaking), { prompt: 'go' });
  },
  async 'nodes at once'(kill) {
    const make = () =>
      agent((ctx) => {
        const node = (name) => async () => {
          const said = await chat().invoke('@@ chat');
          await step(name, () => effects.done(name));
          return { messages: [said] };
        };
        const graph = new StateGraph(MessagesAnnotation)
          .addNode('a', node('a'))
          .addNode('b', node('b'))
          .addNode('c', () => ({}))
          .addEdge(START, 'a')
          .addEdge(START, 'b')
          .addEdge(['a', 'b'], 'c')
          .addEdge('c', END);
        return runGraph(ctx, (checkpointer) => graph.compile({ checkpointer }), messages(ctx));
      });
    return kill(make, { prompt: 'go' });
  },
  async createAgent(kill) {
    return kill(approving, { prompt: work.replace('&& call refund {"order":8} ', ''), answer });
  },
  async 'a rejection'(kill) {
    const prompt = '@@ chat && call refund {"order":8} ;; chat && last';
    return kill(approving, { prompt, answer });
  },
  async 'a tool that interrupts'(kill) {
    const prompt =
      '@@ chat && call ask_user {"question":"Why?"} && call refund {"order":7} ;; last';
    return kill(loop([ask, refund]), { prompt, answer: () => 'late' });
  },
  async 'tools of one node that interrupt'(kill) {
    const prompt =
      '@@ call survey {"topic":"a","times":2} && call survey {"topic":"b","times":1} && call refund {"order":7} && call survey {"topic":"c","times":1} ;; last';
    return kill(loop([survey, refund]), { prompt, answer: matching });
  },
  async 'tools of one node that wait'(kill) {
    const research = agentTool('researcher', { description: 'Finds things out' });
    const prompt =
      '@@ call take {"name":"paid"} && call call_researcher {"prompt":"chairs"} && call take {"name":"sent"} && call survey {"topic":"a","times":1} ;; last';
    return kill(loop([take, research, survey]), {
      prompt,
      answer: matching,
      called: ({ input }) => `about ${input.prompt}`,
      signals: [
        { name: 'sent', data: 'y', after: '1d' },
        { name: 'paid', data: 'x', after: '2d' },
      ],
    });
  },
  async 'tools that a node calls between its own interrupts'(kill) {
    const calls = async () => {
      const [durable] = durableTools([survey]);
      const before = interrupt('Before?');
      const topics = ['a', 'b'].map((topic) => durable.invoke({ topic, times: 2 }));
      const said = [before, ...(await Promise.all(topics)), interrupt('After?')];
      return { messages: [{ role: 'user', content: `@@ say ${said.join(' | ')}` }] };
    };
    return kill(loop([look], calls), { prompt: 'go', answer: matching });
  },
  async subgraph(kill) {
    const make = () =>
      agent((ctx) => {
        const inner = new StateGraph(MessagesAnnotation)
          .addNode('speak', async () => ({ messages: [await chat().invoke('@@ chat')] }))
          .addNode('ask', () => ({ messages: [{ role: 'user', content: `${interrupt('Why?')}` }] }))
          .addNode('act', async () => {
            await step('act', () => effects.done('act'));
            return { messages: [await chat().invoke('@@ chat')] };
          })
          .addEdge(START, 'speak')
          .addEdge('speak', 'ask')
          .addEdge('ask', 'act')
          .compile();
        const graph = new StateGraph(MessagesAnnotation)
          .addNode('inner', inner)
          .addNode('end', async () => ({ messages: [await chat().invoke('@@ chat')] }))
          .addEdge(START, 'inner')
          .addEdge('inner', 'end');
        return runGraph(ctx, (checkpointer) => graph.compile({ checkpointer }), messages(ctx));
      });
    return kill(make, { prompt: 'go' });
  },
  async 'a graph inside a tool'(kill) {
    const prompt = '@@ call ask_lawyer {} && call refund {"order":7} ;; last';
    const make = loop([refund], undefined, [consult('ask_lawyer')]);
    return kill(make, { prompt, answer: matching });
  },
  async 'graphs inside tools of one node'(kill) {
    const prompt = '@@ call ask_lawyer {} && call ask_bank {} ;; last';
    const make = loop([], undefined, [consult('ask_lawyer'), consult('ask_bank')]);
    return kill(make, { prompt, answer: matching });
  },
  async 'a graph inside a durable tool'() {
    const make = loop([consult('ask_lawyer')]);
    return rehearse(make(), { prompt: '@@ call ask_lawyer {} ;; last', answer: matching });
  },
  async 'a silent model'() {
    const silent = async () => {
      await chat()
        .withConfig({ tags: ['nostream'] })
        .invoke('@@ say hidden');
      return { messages: [{ role: 'user', content: '@@ say shown' }] };
    };
    return rehearse(loop([look], silent)(), { prompt: 'go' });
  },
  async 'an unknown value'() {
    return interrupted({ a: [1] });
  },
  async 'no value'() {
    return interrupted();
  },
  async memory() {
    const { state } = await rehearse(looking(), { prompt: '@@ say The word is heron.' });
    return rehearse(looking(), { prompt: '@@ probe her+on', state });
  },
  async 'a failing model'() {
    return rehearse(looking(), { prompt: '@@ fail 400 Out of luck' });
  },
  async 'the operator’s list beside the middleware'(kill) {
    const prompt = '@@ chat && call look {"at":"a"} && call refund {"order":7} ;; chat && last';
    return kill(approving, { prompt, answer, approvalRequiredTools: ['refund'] });
  },
  async 'the operator’s list for a step of a node'(kill) {
    const paying = async () => {
      const paid = await step('pay', ({ input }) => effects.done(`pay ${input.order}`, 'paid'), {
        input: { order: 7 },
      });
      const input = { order: 8 };
      const denied = await step('pay', () => effects.done('pay 8'), { input }).catch((error) => {
        if (error.name !== 'Denied') throw error;
        return `denied: ${error.message}`;
      });
      return { messages: [{ role: 'user', content: `@@ say ${paid} ${denied}` }] };
    };
    return kill(loop([look], paying), { prompt: 'go', answer, approvalRequiredTools: ['pay'] });
  },
  async 'rules for tools'(kill) {
    return kill(looking, { prompt: ruled, answer, rules });
  },
  async 'rules and interrupts in one node'(kill) {
    const pay = (order) =>
      step('refund', ({ input }) => effects.done(`pay ${input.order}`, `paid ${input.order}`), {
        input: { order },
      }).catch((error) => {
        if (error.name !== 'Denied') throw error;
        return error.reason;
      });
    const paying = async () => {
      const said = [interrupt('One?'), await pay(5), await pay(7), interrupt('Two?')];
      said.push(await pay(8), interrupt('Three?'), await pay(4));
      return { messages: [{ role: 'user', content: `@@ say ${said.join(', ')}` }] };
    };
    const reply = (asked) => (asked.kind === 'question' ? asked.question : answer(asked));
    return kill(loop([look], paying), { prompt: 'go', answer: reply, rules });
  },
  async 'a tool that interrupts and that a rule asks about'(kill) {
    const prompt =
      '@@ chat && call ask_user {"question":"Why?"} && call refund {"order":7} ;; last';
    const options = { rules: [{ name: 'all', tools: ['*'], effect: 'ask' }] };
    return kill(loop([ask, refund]), { prompt, answer: allowing, ...options });
  },
  async 'agents of the server'(kill) {
    const research = agentTool('researcher', { description: 'Finds things out' });
    return kill(loop([research, sleepTool]), calling);
  },
  async 'agents of the server, side by side'(kill) {
    const make = () =>
      agent((ctx) => {
        const tools = [agentTool('researcher', { description: 'Finds things out' }), sleepTool];
        const compile = (checkpointer) => createAgent({ model: chat(), tools, checkpointer });
        return runGraph(ctx, compile, messages(ctx));
      });
    return kill(make, calling);
  },
  async 'waits of a node'(kill) {
    const waiting = async () => {
      sleep('a day', '1d');
      await step('remind', () => effects.done('remind'));
      const paid = receive('paid', { timeout: '1h' });
      const again = receive('paid', { timeout: new Date(0) });
      const found = callAgent('researcher', { prompt: paid.data }, { budget: { maxTokens: 5 } });
      const said = `${JSON.stringify([paid, again])} ${found.text} ${interrupt('Sure?')}`;
      return { messages: [{ role: 'user', content: `@@ say ${said}` }] };
    };
    const options = {
      signals: [{ name: 'paid', data: 'chairs', after: '1d' }],
      called: ({ input }) => `about ${input.prompt}`,
      answer: () => 'yes',
    };
    return kill(loop([look], waiting), { prompt: 'go', ...options });
  },
  async 'a wait of ctx in a node'() {
    const make = () =>
      agent((ctx) => {
        const graph = new StateGraph(MessagesAnnotation)
          .addNode('a', async () => (await ctx.sleep('a day', '1d'), {}))
          .addEdge(START, 'a');
        return runGraph(ctx, (checkpointer) => graph.compile({ checkpointer }), messages(ctx));
      });
    return rehearse(make(), { prompt: 'go' });
  },
  async 'the operator’s list'(kill) {
    const prompt =
      '@@ call look {"at":"a"} && call refund {"order":7} && call refund {"order":8} ;; last';
    return kill(looking, { prompt, answer, approvalRequiredTools: ['refund'] });
  },
});
