import { expect } from 'chai';
import type { Plugin } from '../../kernel/contract/index.js';
import type { Access, RouteSpec } from '../../ports/http/index.js';
import { bootTestKernel, type TestKernel } from '../harness.js';

const route = (path: string, more: object = {}): RouteSpec => ({
  method: 'GET',
  path,
  summary: 'a route',
  access: 'public',
  handle: () => ({}),
  ...more,
});

describe('kernel/contributions', () => {
  const running: TestKernel[] = [];
  afterEach(async () => {
    for (const made of running.splice(0)) await made.stop();
  });

  /** The state of each plugin with the given parts; the first registers `one:read`. */
  async function reasons(...parts: object[]): Promise<(string | null)[]> {
    const ids = ['one', 'two', 'three'];
    const plugins = parts.map((part, i): Plugin => ({
      id: ids[i] as string,
      version: '1.0.0',
      api: 1,
      title: 'A plugin',
      scopes: i === 0 ? ['one:read'] : [],
      setup: () => part,
    }));
    const made = await bootTestKernel(plugins);
    running.push(made);
    return made.kernel.system.listPlugins().map(({ reason }) => reason);
  }

  it('accepts every access declaration', async () => {
    const forms: Access[] = [
      'public',
      { scope: 'one:read' },
      { scope: 'one:read', intake: true },
      { anyScope: ['one:read'] },
      { anyToken: true },
      { sharedKey: true },
      { session: 'member' },
      [{ scope: 'one:read' }, { sharedKey: true }],
    ];
    expect(await reasons({ routes: forms.map((access, i) => route(`/${i}`, { access })) })).to.deep.equal([null]);
  });

  const bad: [string, object, string][] = [
    ['no access', { routes: [route('/a', { access: undefined })] }, 'route GET /a: declares no access'],
    ['an empty access', { routes: [route('/a', { access: [] })] }, 'route GET /a: declares no access'],
    [
      'a scope of nobody',
      { routes: [route('/a', { access: { scope: 'one:write' } })] },
      'route GET /a: requires the scope "one:write", which no plugin registers',
    ],
    [
      'an unknown rule',
      { routes: [route('/a', { access: { role: 'admin' } })] },
      'route GET /a: has an unknown access: {"role":"admin"}',
    ],
    [
      'two rules in one',
      { routes: [route('/a', { access: { scope: 'one:read', sharedKey: true } })] },
      'route GET /a: has an unknown access: {"scope":"one:read","sharedKey":true}',
    ],
    ['a misspelt member', { routes: [route('/a', { acess: 'public' })] }, 'route GET /a: acess is not allowed here'],
    ['a path without slash', { routes: [route('a')] }, 'route GET a: path must start with /'],
    ['a misspelt part', { routs: [] }, 'setup must return its parts: routs is not allowed here'],
    [
      'a service that the manifest does not name',
      { services: { 'one.api': {} } },
      'the service "one.api" is not in its manifest: declare it in `provides`',
    ],
    [
      'a job of another',
      { jobs: [{ name: 'two.sweep', run() {} }] },
      'job two.sweep: its name must be "one." and a lower-case word',
    ],
    [
      'two jobs of one name',
      {
        jobs: [
          { name: 'sweep', run() {} },
          { name: 'one.sweep', run() {} },
        ],
      },
      'job one.sweep: this plugin already has a job with this name',
    ],
    [
      'a job with two rhythms',
      { jobs: [{ name: 'sweep', everyMs: 1, cron: '* * * * *', run() {} }] },
      'job sweep: value contains a conflict between optional exclusive peers [everyMs, cron]',
    ],
    [
      'a page without views',
      { pages: [{ path: '/p', title: 'P', access: 'public', handle() {} }] },
      'page GET /p: the folder of views is unknown: set `from: import.meta.url` in the plugin',
    ],
    [
      'three words',
      { commands: [{ name: 'a b c', summary: 's', run() {} }] },
      'command a b c: name must be one or two lower-case words',
    ],
  ];
  for (const [what, parts, reason] of bad) {
    it(`rejects ${what}`, async () => {
      expect(await reasons(parts)).to.deep.equal([reason]);
    });
  }

  it('rejects a missing value', async () => {
    expect(await reasons(undefined as unknown as object)).to.deep.equal([
      'setup must return its parts: value is missing',
    ]);
  });

  it('reports every error of a plugin', async () => {
    expect(await reasons({ routes: [route('/a', { access: undefined }), route('/b', { access: [] })] })).to.deep.equal([
      'route GET /a: declares no access; route GET /b: declares no access',
    ]);
  });

  it('assigns a path or command to the first plugin, and names both plugins', async () => {
    const command = { name: 'note add', summary: 'Adds a note', run: async () => ({ json: {}, text: '' }) };
    const found = await reasons(
      { routes: [route('/a/{id}', { aliases: ['/b'] })], commands: [command] },
      { routes: [route('/a/{key}'), route('/a/{key}/more')] },
      { routes: [route('/b', { method: ['POST', 'GET'] })], commands: [command] },
    );
    expect(found).to.deep.equal([
      null,
      'route GET /a/{key}: GET /a/{key} is already mounted by plugin one',
      'route POST|GET /b: GET /b is already mounted by plugin one; command note add: plugin one already has a command with this name',
    ]);
    const mounted = running[0]?.http.mounted?.routes.map(
      ({ plugin, spec, ready }) => `${plugin} ${spec.path} ${ready()}`,
    );
    expect(mounted).to.deep.equal(['one /a/{id} true', 'two /a/{key}/more false']);
    expect(running[0]?.kernel.listCommands().map(({ plugin, reason }) => [plugin, reason])).to.deep.equal([
      ['one', null],
    ]);
  });
});
