import { useChat } from '@ai-sdk/react';
import { openSession } from '@convoke/sdk';
import { ConvokeChatTransport } from '@convoke/sdk/ai-sdk';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

// From our own backend: the address of Convoke, the session of this chat, and a token that opens only this session.
const grant = async () => (await fetch(`/grant${location.search}`, { method: 'POST' })).json();
const { baseUrl, sessionId } = await grant();

const session = openSession({ baseUrl, sessionId, token: async () => (await grant()).token });
const transport = new ConvokeChatTransport({ session, waiting: 'hold' });
const { items: history } = await session.uiMessages.list().page();

function Chat() {
  const options = { id: sessionId, messages: history, transport, resume: true };
  const { messages, sendMessage, status, error } = useChat(options);
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';
  const runId = messages.at(-1)?.metadata?.run_id;
  const send = async (event) => {
    event.preventDefault();
    setText('');
    await sendMessage({ text });
  };
  return (
    <main>
      {messages.map(({ id, role, parts, metadata }) => (
        <article key={id} className={role}>
          {parts.map((part, index) => (
            <Part key={`${id}-${index}`} part={part} />
          ))}
          {role === 'assistant' && metadata?.run_id && <Thumbs runId={metadata.run_id} />}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input
          aria-label="Message"
          value={text}
          onChange={({ target }) => setText(target.value)}
          disabled={isBusy}
        />
        {isBusy ? (
          // The library's stop() only stops reading.
          <button type="button" onClick={() => runId && session.runs.at(runId).cancel()}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  );
}

function Part({ part }) {
  const { type, text, state, toolName, toolCallId, input, output, approval } = part;
  const button = (label, key, answer) => (
    <button key={label} type="button" onClick={() => session.interactions.answer(key, answer)}>
      {label}
    </button>
  );
  if (type === 'text') return <p style={{ whiteSpace: 'pre-wrap' }}>{text}</p>;
  if (type === 'file') return <Attachment file={part} />;
  if (type !== 'dynamic-tool') return null;
  if (state === 'approval-requested') {
    return (
      <p>
        Allow {toolName} {JSON.stringify(input)}?{' '}
        {button('Allow', approval.id, { decision: 'allow' })}
        {button('Deny', approval.id, { decision: 'deny' })}
      </p>
    );
  }
  if (toolName === 'ask_user' && state === 'input-available') {
    const choices = input.options?.map(({ label }) => button(label, toolCallId, { answer: label }));
    return (
      <p>
        {input.question} {choices} {button('Decline', toolCallId, { declined: true })}
      </p>
    );
  }
  if (toolName === 'ask_user' && state === 'output-available') {
    return (
      <p>
        {input.question} {output?.declined ? 'You declined.' : `You answered ${output}`}
      </p>
    );
  }
  return (
    <p>
      <code>{toolName}</code> {state}
    </p>
  );
}

// What this user thinks of the answer: the token says who that is, and the list has only what this user has said.
function Thumbs({ runId }) {
  const { feedback } = session.runs.at(runId);
  const [score, setScore] = useState();
  useEffect(() => {
    const show = async () => {
      const given = await feedback.list();
      setScore(given.find(({ key }) => key === 'rating')?.score);
    };
    show().catch(console.error);
  }, [runId]);
  const thumb = (label, shown, value) => (
    <button
      type="button"
      aria-label={label}
      aria-pressed={score === value}
      onClick={async () => setScore((await feedback.put('rating', { score: value })).score)}
    >
      {shown}
    </button>
  );
  return (
    <p>
      {thumb('Good answer', '👍', 1)} {thumb('Bad answer', '👎', -1)}
    </p>
  );
}

// Images and links send no token: the page fetches the file, and shows it from memory.
function Attachment({ file: { url, mediaType, filename } }) {
  const [source, setSource] = useState();
  useEffect(() => {
    let shown;
    const show = async () => {
      const isOfConvoke = url.startsWith(`${baseUrl}/`);
      const token = isOfConvoke ? (await grant()).token : undefined;
      const response = await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} });
      if (response.ok) setSource((shown = URL.createObjectURL(await response.blob())));
    };
    show().catch(console.error);
    return () => URL.revokeObjectURL(shown);
  }, [url]);
  if (source !== undefined && mediaType.startsWith('image/')) {
    return <img src={source} alt={filename} />;
  }
  return (
    <a href={source} download={filename}>
      {filename}
    </a>
  );
}

createRoot(document.body).render(<Chat />);
