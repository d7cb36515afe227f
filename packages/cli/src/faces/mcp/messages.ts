type Fields = Readonly<Record<string, unknown>>;

/** A message of JSON-RPC, of which the bridge reads only the fields that it needs to pass it on. */
export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Fields;
}

/** Undefined for a line that is no message. */
export function messageIn(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** The revision that a request of the newer era names; undefined in the older one. */
export function versionIn({ params = {} }: Message): string | undefined {
  const meta = fieldsOf(params['_meta']);
  const version = meta[versionKey];
  return typeof version === 'string' ? version : undefined;
}

/** Whether it is the first round of a call, which starts a run or passes an answer on. */
export function isFirstRound({ method, params = {} }: Message): boolean {
  return method === 'tools/call' && params['requestState'] === undefined;
}

/** The headers that requests of the newer era repeat their body in. */
export function ownHeaders(message: Message): Record<string, string> {
  const { method = '', params = {} } = message;
  const version = versionIn(message);
  if (version === undefined) return {};
  const { name } = params;
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(method === 'tools/call' && typeof name === 'string' && { 'mcp-name': encoded(name) }),
  };
}

/** A name that no header can have is sent in base64. */
function encoded(name: string): string {
  if (/^[!-~]([ -~]*[!-~])?$/.test(name) && !name.startsWith('=?')) return name;
  return `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
