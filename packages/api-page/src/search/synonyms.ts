/** Words that people search for and our pages call something else. */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  approve: ['answer', 'permission', 'decision'],
  auth: ['token', 'sign', 'credential'],
  backup: ['restore', 'export'],
  cancel: ['stop', 'abort'],
  conversation: ['session'],
  cost: ['price', 'usage', 'budget'],
  crash: ['loss', 'lost', 'survive', 'killed'],
  delete: ['remove', 'offboard', 'end'],
  docker: ['container', 'image', 'compose'],
  error: ['refusal', 'failed'],
  human: ['person', 'approval', 'question'],
  idempotency: ['safe', 'key'],
  install: ['project', 'build', 'package'],
  java: ['language', 'client'],
  k8s: ['kubernetes'],
  limit: ['rate', 'bound', 'ceiling'],
  login: ['sign'],
  monitor: ['metrics', 'alerts'],
  oidc: ['identity', 'provider', 'sign'],
  postgresql: ['postgres', 'database'],
  price: ['cost', 'usage'],
  python: ['client'],
  signature: ['signed', 'verify'],
  sse: ['stream', 'event'],
  sso: ['oidc', 'identity', 'provider'],
  timeout: ['limit', 'wait', 'deadline'],
  typescript: ['sdk', 'javascript'],
};

/** The same for operations: words of their callers, by id. */
export const alsoCalled: Readonly<Record<string, string>> = {
  answer_interaction: 'approve allow deny decide',
  follow_run_events: 'reconnect sse',
};
