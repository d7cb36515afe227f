import type { Parameter, PathOperation } from '@convoke/contract';

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly operation: PathOperation;
  readonly parameters: readonly Parameter[];
};

/** Renders the operation as a curl command with shell variables for ids and secrets. */
export function curlOf(call: Call): string {
  const url = `"$CONVOKE${call.path.replace(/\{([a-z_]+)\}/g, (_, name: string) => shellVariable(name))}"`;
  const lines = [curlStart(call, url), ...headerLines(call), ...bodyLines(call)];
  return lines.join(' \\\n  ');
}

function curlStart({ method, operation }: Call, url: string): string {
  const streams = operation.responses['200'];
  const stream = streams && 'content' in streams && streams.content?.['text/event-stream'];
  const flags = stream ? 'curl -N' : 'curl';
  const implied = method === 'get' || (method === 'post' && operation.requestBody?.required);
  return implied ? `${flags} ${url}` : `${flags} -X ${method.toUpperCase()} ${url}`;
}

function headerLines({ operation, parameters }: Call): string[] {
  const lines: string[] = [];
  const [security] = operation.security;
  if (security) lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const { name, in: place, required } of parameters) {
    if (place !== 'header') continue;
    if (name === 'X-Organization-ID') lines.push('-H "X-Organization-ID: $ORGANIZATION_ID"');
    else if (name === 'X-Workspace-Tenant-ID') lines.push('-H "X-Workspace-Tenant-ID: $TENANT_ID"');
    else if (required) lines.push(`-H "${name}: $(uuidgen)"`);
  }
  return lines;
}

function bodyLines({ operation }: Call): string[] {
  const content = operation.requestBody?.content ?? {};
  const json = content['application/json'];
  if (json && operation.requestBody?.required) {
    const body = JSON.stringify(json.example);
    return ['-H "Content-Type: application/json"', `-d '${body}'`];
  }
  if (content['application/x-www-form-urlencoded']) {
    return ['-u "$CLIENT_ID:$CLIENT_SECRET"', '-d grant_type=client_credentials'];
  }
  return content['application/octet-stream'] ? ['--data-binary @report.pdf'] : [];
}

function shellVariable(name: string): string {
  return `$${name.toUpperCase()}`;
}
