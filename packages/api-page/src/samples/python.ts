import type { Call } from './call.ts';

/** Renders the operation as a program for Python's standard library; ids and secrets come from the environment. */
export function pythonOf(call: Call): string {
  const { method, operation } = call;
  const path = call.path.replace(
    /\{([a-z_]+)\}/g,
    (_, name: string) => `{env['${name.toUpperCase()}']}`,
  );
  const body = bodyOf(call);
  const isForm = operation.requestBody?.content['application/x-www-form-urlencoded'] !== undefined;
  const headers = [...headerLines(call), ...body.headers];
  const parts = [
    `    f"{env['CONVOKE']}${path}",`,
    ...(method === 'get' || (method === 'post' && body.data !== undefined)
      ? []
      : [`    method="${method.toUpperCase()}",`]),
    ...(headers.length > 0
      ? ['    headers={', ...headers.map((line) => `        ${line},`), '    },']
      : []),
    ...(body.data === undefined ? [] : [`    data=${body.data},`]),
  ];
  const needsUuid = headers.some((line) => line.includes('uuid'));
  return [
    `import ${isForm ? 'base64, ' : ''}json, urllib.request${needsUuid ? ', uuid' : ''}`,
    'from os import environ as env',
    '',
    ...(isForm ? ["pair = f\"{env['CLIENT_ID']}:{env['CLIENT_SECRET']}\""] : []),
    'request = urllib.request.Request(',
    ...parts,
    ')',
    'with urllib.request.urlopen(request) as response:',
    ...readLines(call),
  ].join('\n');
}

function headerLines({ headers }: Call): string[] {
  return headers.map(({ name, variable }) => {
    if (variable === undefined) return `"${name}": str(uuid.uuid4())`;
    return name === 'Authorization'
      ? `"${name}": f"Bearer {env['${variable}']}"`
      : `"${name}": env["${variable}"]`;
  });
}

function bodyOf({ operation }: Call): { readonly headers: string[]; readonly data?: string } {
  const content = operation.requestBody?.content ?? {};
  const json = content['application/json'];
  if (json && operation.requestBody?.required) {
    const headers = ['"Content-Type": "application/json"'];
    return { headers, data: `json.dumps(${literal(json.example)}).encode()` };
  }
  if (content['application/x-www-form-urlencoded']) {
    const headers = ['"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()'];
    return { headers, data: 'b"grant_type=client_credentials"' };
  }
  if (!content['application/octet-stream']) return { headers: [] };
  return { headers: [], data: 'open("report.pdf", "rb").read()' };
}

function readLines({ operation, isStream }: Call): string[] {
  if (isStream) {
    return [
      '    for line in response:',
      '        if line.startswith(b"data: "):',
      '            event = json.loads(line[6:])',
      '            print(event["type"], event["data"])',
    ];
  }
  const bodies = Object.entries(operation.responses).flatMap(([status, answer]) =>
    status < '400' && 'content' in answer ? Object.keys(answer.content ?? {}) : [],
  );
  if (bodies.includes('application/json')) return ['    print(json.load(response))'];
  return bodies.length > 0 ? ['    content = response.read()'] : ['    print(response.status)'];
}

/** Renders a JSON value as Python does. */
function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `"${name}": ${literal(one)}`);
  return `{${members.join(', ')}}`;
}
