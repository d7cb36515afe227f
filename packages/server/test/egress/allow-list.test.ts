import { expect, test } from 'vitest';
import { readAllowList, reachProblem, urlProblem } from '../../src/egress/allow-list.ts';

const allowList = (...entries: readonly string[]) => readAllowList('CONVOKE_TEST_ALLOW', entries);

test.each([
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://169.254.169.254/',
  'https://10.1.2.3/',
  'https://100.64.0.1/',
  'https://192.168.1.1/',
  'https://0.0.0.0/',
  'https://[fd00::1]/',
  'https://user:word@agents.example.com/',
  'http://agents.example.com/',
  'http://93.184.216.34/',
])('%s is not allowed by default (SSRF)', (text) => {
  expect(urlProblem(new URL(text), allowList())).toBeDefined();
});

test('public addresses are allowed over https', () => {
  expect(urlProblem(new URL('https://agents.example.com/'), allowList())).toBeUndefined();
  expect(urlProblem(new URL('https://93.184.216.34/'), allowList())).toBeUndefined();
});

test.each<[string, string, readonly string[], boolean]>([
  ['10.1.0.0/16', 'http://agent.corp:8080/', ['10.1.2.3'], true],
  ['10.1.0.0/16', 'http://agent.corp:8080/', ['10.1.2.3', '10.2.0.1'], false],
  ['agent.corp:8080', 'http://agent.corp:8080/', ['10.2.0.1'], true],
  ['agent.corp:8080', 'http://agent.corp:8081/', ['10.2.0.1'], false],
  ['agent.corp', 'https://agent.corp/', ['10.2.0.1'], true],
  ['agent.corp', 'https://agent.corp/', ['169.254.169.254'], false],
  ['*.agents.corp', 'https://agents.corp/', ['10.2.0.1'], false],
  ['*.agents.corp', 'https://a.agents.corp/', ['10.2.0.1'], true],
  ['fd00::/8', 'http://agent.corp/', ['fd00::1'], true],
  ['localhost:9000', 'http://localhost:9000/', ['127.0.0.1', '::1'], true],
])('with %s listed, %s at %j: allowed %s', (...[listed, url, addresses, isAllowed]) => {
  const problem = reachProblem(new URL(url), addresses, allowList(listed));
  expect(problem === undefined).toBe(isAllowed);
});

test.each(['10.0.0.0/33', '10.0.0/8', 'a b', '*.com:99999', 'fd00::/129'])(
  'the invalid entry %s is rejected with the name of the setting',
  (entry) => {
    expect(() => allowList(entry)).toThrow(`CONVOKE_TEST_ALLOW: "${entry}"`);
  },
);
