/** Words that people search for and our pages call something else. */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  approve: ['answer', 'permission', 'decision'],
  auth: ['token', 'sign', 'credential'],
  backup: ['restore', 'export'],
  billing: ['usage', 'cost', 'budget'],
  cancel: ['stop', 'abort'],
  conversation: ['session'],
  cors: ['origin', 'browser'],
  cost: ['price', 'usage', 'budget'],
  crash: ['loss', 'lost', 'survive', 'killed'],
  delete: ['remove', 'offboard', 'end'],
  docker: ['container', 'image', 'compose'],
  error: ['refusal', 'failed'],
  gdpr: ['offboard', 'retention', 'remove'],
  helm: ['kubernetes'],
  human: ['person', 'approval', 'question'],
  idempotency: ['safe', 'key'],
  install: ['project', 'build', 'package'],
  java: ['language', 'client'],
  k8s: ['kubernetes'],
  limit: ['rate', 'bound', 'ceiling'],
  login: ['sign'],
  macos: ['linux', 'sandbox'],
  monitor: ['metrics', 'alerts'],
  oidc: ['identity', 'provider', 'sign'],
  ollama: ['compatible', 'openai'],
  pagination: ['cursor', 'list', 'limit'],
  postgresql: ['postgres', 'database'],
  price: ['cost', 'usage'],
  privacy: ['offboard', 'retention'],
  python: ['client'],
  signature: ['signed', 'verify'],
  sse: ['stream', 'event'],
  sso: ['oidc', 'identity', 'provider'],
  subagent: ['call', 'agent'],
  thumbs: ['feedback', 'rating'],
  timeout: ['limit', 'wait', 'deadline'],
  typescript: ['sdk', 'javascript'],
  vscode: ['editor'],
  windows: ['linux', 'sandbox'],
};

/** The same for operations: words of their callers, by id. */
export const alsoCalled: Readonly<Record<string, string>> = {
  answer_interaction: 'approve allow deny decide',
  follow_run_events: 'reconnect sse',
  upload_file: 'attach',
};

/** Operations whose words mean something else to most callers: a retry is one of their own request. */
export const seldomMeant: ReadonlySet<string> = new Set(['retry_tenant']);
