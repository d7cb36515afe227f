import type { Call } from './call.ts';

/** Renders the operation as a curl command with shell variables for ids and secrets. */
export function curlOf(call: Call): string {
  const url = `"$CONVOKE${call.path.replace(/\{([a-z_]+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`;
  const lines = [curlStart(call, url), ...headerLines(call), ...bodyLines(call)];
  return lines.join(' \\\n  ');
}

function curlStart({ method, operation, isStream }: Call, url: string): string {
  const flags = isStream ? 'curl -N' : 'curl';
  const implied = method === 'get' || (method === 'post' && operation.requestBody?.required);
  return implied ? `${flags} ${url}` : `${flags} -X ${method.toUpperCase()} ${url}`;
}

function headerLines({ headers }: Call): string[] {
  return headers.map(({ name, variable }) =>
    variable === undefined
      ? `-H "${name}: $(uuidgen)"`
      : `-H "${name}: ${name === 'Authorization' ? 'Bearer ' : ''}$${variable}"`,
  );
}

function bodyLines({ operation }: Call): string[] {
  const content = operation.requestBody?.content ?? {};
  const json = content['application/json'];
  if (json && operation.requestBody?.required) {
    return ['-H "Content-Type: application/json"', `-d '${JSON.stringify(json.example)}'`];
  }
  if (content['application/x-www-form-urlencoded']) {
    return ['-u "$CLIENT_ID:$CLIENT_SECRET"', '-d grant_type=client_credentials'];
  }
  return content['application/octet-stream'] ? ['--data-binary @report.pdf'] : [];
}
