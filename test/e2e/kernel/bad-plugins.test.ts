/**
 * A plugin from outside that does something wrong never stops the service (contract 95,
 * amendments): its paths answer 503, its jobs stop, and `aos plugin list` and `aos doctor` say what
 * the running service says.
 */
import { expect } from 'chai';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCli, runCliJson, TestService } from '../../support/service.js';
import { waitUntil } from '../../harness.js';

const route = (path: string, more = ''): string =>
  `{ method: 'GET', path: '${path}', summary: 'Answers', access: 'public', handle: () => ({ ok: true }), ${more} }`;
const setup = (id: string, body = '', more = ''): string =>
  `setup: (ctx) => { ${body} return { routes: [${route(`/api/${id}/v1/ok`)}], ${more} }; },`;
const throws = "throw new Error('out of order');";
const marked = (file: string): string => `(await import('node:fs')).appendFileSync(${JSON.stringify(file)}, '.')`;

/** By id: the members of the manifest, what stands before it, and the reason. */
const BAD: Record<string, { members: string; before?: string; reason: RegExp; id?: string }> = {
  importthrows: { before: throws, members: setup('importthrows'), reason: /out of order/, id: './importthrows.mjs' },
  syntaxerror: { before: 'const = 1;', members: setup('syntaxerror'), reason: /SyntaxError/, id: './syntaxerror.mjs' },
  badmanifest: { members: `colour: 'red', ${setup('badmanifest')}`, reason: /colour is not a member of a manifest/ },
  oldapi: { members: `api: 0, ${setup('oldapi')}`, reason: /plugin API 0/ },
  needsbad: {
    members: `needs: ['bad.api'], ${setup('needsbad')}`,
    reason: /"bad.api" of plugin providesbad, which failed/,
  },
  providesbad: { members: `provides: ['bad.api'], title: '', ${setup('providesbad')}`, reason: /title/ },
  setupthrows: {
    members: setup('setupthrows', `const other = '/api/bugtracker/v1'; ${throws}`),
    reason: /out of order/,
  },
  setupnull: {
    members: `setup: () => null, path: '/api/setupnull/v1/ok',`.replace(/path.*/, ''),
    reason: /setup must return/,
  },
  undeclared: { members: setup('undeclared', "ctx.collection('notes');"), reason: /collection "notes"/ },
  badroute: {
    members: setup('badroute', '', '').replace('],', `, ${route('no-slash')}],`),
    reason: /must start with \//,
  },
  takenroute: {
    members: setup('takenroute').replace('],', `, ${route('/api/health')}],`),
    reason: /is already mounted by/,
  },
  migrates: {
    members: `migrations: [{ number: 1, name: 'first', run: async () => { ${throws} } }], ${setup('migrates')}`,
    reason: /migration migrates:001-first: out of order/,
  },
  startthrows: { members: setup('startthrows', '', `start: async () => { ${throws} }`), reason: /out of order/ },
  access: { members: setup('secondaccess'), reason: /two plugins have this id/, id: './access.mjs' },
};
const GOOD = 'good';
const unread = "void (async () => (await import('node:fs/promises')).readFile('/nowhere'))();";
const start = (code: string): string => `start: () => { setTimeout(async () => { ${code} }, 50); }`;
const called = (id: string, more: string): string =>
  `routes: [{ method: 'GET', path: '/api/${id}/v1/ok', summary: 'Answers', access: 'public', ${more} }]`;
/**
 * Throw once the service has started or a request comes. By id: parts, what the module does when it
 * is imported, and the reason.
 */
const LATER: Record<string, { parts?: string; members?: string; imports?: string; reason: RegExp }> = {
  timerthrows: { parts: `start: () => { setTimeout(() => { ${throws} }, 50); }`, reason: /^out of order$/ },
  rejects: { parts: start(throws), reason: /^out of order$/ },
  // The stack of these names no file of the plugin.
  asksnobody: { parts: start("(await import('node:http')).get('http://127.0.0.1:1/');"), reason: /ECONNREFUSED/ },
  readsnofile: { parts: start(unread), reason: /ENOENT/ },
  rejectstext: { parts: start("await Promise.reject('no Error at all');"), reason: /no Error at all/ },
  rejectsnothing: { parts: start('await Promise.reject();'), reason: /undefined/ },
  throwsnull: { parts: 'start: () => { setTimeout(() => { throw null; }, 50); }', reason: /^null$/ },
  injob: { parts: `jobs: [{ name: 'once', everyMs: 1000, run: async () => { ${unread} } }]`, reason: /ENOENT/ },
  inroute: { parts: called('inroute', `handle: () => { ${unread} return {}; }`), reason: /ENOENT/ },
  inlistener: { parts: `listens: [{ event: 'good.asked', handle: async () => { ${unread} } }]`, reason: /ENOENT/ },
  inservice: {
    members: "provides: ['in.service'],",
    parts: `services: { 'in.service': new (class { #own = 1; read() { ${unread} return this.#own; } })() }`,
    reason: /ENOENT/,
  },
  atimport: { imports: unread, reason: /ENOENT/ },
  intimerofimport: { imports: `setTimeout(() => { ${throws} }, 0);`, reason: /^out of order$/ },
  throwsagain: {
    parts: `start: () => { setInterval(() => { throw new Error('thrown again'); }, 20); }`,
    reason: /^thrown again$/,
  },
  linked: { parts: `start: () => { setTimeout(() => { ${throws} }, 50); }`, reason: /^out of order$/ },
};

describe('faulty plugins', function () {
  let service: TestService;
  let folder: string;
  let runs: string;

  before(async () => {
    service = await TestService.create();
    folder = join(service.dataDir, 'outside');
    await mkdir(folder);
    runs = join(folder, 'runs');
    const write = (id: string, members: string, before = ''): Promise<void> =>
      writeFile(
        join(folder, `${id}.mjs`),
        `${before}\nexport default { id: '${id}', version: '1.0.0', api: 1, title: '${id}', ${members} };`.replace(
          /api: 1, (title: '\w+', )(api: 0)/,
          '$1$2',
        ),
      );
    for (const [id, { members, before }] of Object.entries(BAD)) await write(id, members, before);
    const job = `jobs: [{ name: 'tick', everyMs: 1000, run: async () => { ${marked(runs)} } }],`;
    for (const [id, { parts = '', members = '', imports = '' }] of Object.entries(LATER))
      await write(
        id,
        `${members} setup: () => ({ ${parts.includes('jobs:') ? '' : job} ${parts.includes('routes:') ? '' : `routes: [${route(`/api/${id}/v1/ok`)}],`} ${parts} }),`,
        imports,
      );
    // A link to a module of another folder, as `npm link` makes.
    await mkdir(join(service.dataDir, 'elsewhere'));
    await rename(join(folder, 'linked.mjs'), join(service.dataDir, 'elsewhere', 'linked.mjs'));
    await symlink(join(service.dataDir, 'elsewhere', 'linked.mjs'), join(folder, 'linked.mjs'));
    await write(
      GOOD,
      `events: ['good.asked'], uses: ['in.service'], setup: (ctx) => ({ routes: [${route('/api/good/v1/ok')}, {
        method: 'POST', path: '/api/good/v1/ask', summary: 'Asks the others', access: 'public', handle: async () => {
          const own = ctx.find({ name: 'in.service' })?.read();
          await ctx.emit('good.asked', {});
          return { own };
        },
      }] }),`,
    );
    // The last one is no plugin but a plugin of the service.
    const names = [...Object.keys(BAD), ...Object.keys(LATER), GOOD, 'not-there'];
    const plugins = [...names.map((id) => `./${id}.mjs`), 'bugs'];
    service.env['SVC_CONFIG'] = join(folder, 'aos.json');
    await writeFile(service.env['SVC_CONFIG'], JSON.stringify({ plugins }));
    await service.start();
  });
  after(() => service.dispose());

  const states = async (): Promise<Record<string, { state: string; reason: string }>> => {
    const { items } = await runCliJson<{ items: { id: string; state: string; reason: string }[] }>(service.env, [
      'plugin',
      'list',
    ]);
    return Object.fromEntries(items.map(({ id, ...rest }) => [id, rest]));
  };

  it('leave the service and other plugins running', async () => {
    const answer = await service.request('GET', `/api/${GOOD}/v1/ok`, null);
    expect([answer.status, answer.body['ok']]).to.deep.equal([200, true]);
    expect((await service.request('GET', '/api/health/ready', null)).status).to.equal(200);
  });

  it('return 503 on their routes', async () => {
    for (const id of Object.keys(BAD).filter((one) => one !== 'access')) {
      const { status, body, headers } = await service.request('GET', `/api/${id}/v1/ok`, null);
      expect([id, status, (body['error'] as { code: string } | undefined)?.code]).to.deep.equal([id, 503, 'not_ready']);
      expect(headers.get('retry-after'), id).to.match(/^\d+$/);
    }
    // What no plugin names is still unknown.
    expect((await service.request('GET', '/api/nobody/v1/ok', null)).status).to.equal(404);
  });

  it('are listed as failed with the reason in `aos plugin list` and in the running service', async () => {
    const all = await states();
    for (const [name, { reason, id = name }] of Object.entries(BAD)) {
      expect(all[id]?.state, id).to.equal('failed');
      expect(all[id]?.reason, id).to.match(reason);
    }
    expect(all['./not-there.mjs']?.reason).to.match(/no file or folder with this name/);
    expect(all[GOOD]?.state).to.equal('ready');
  });

  it('fail when they throw outside a call, and their jobs stop', async () => {
    await service.request('GET', '/api/inroute/v1/ok', null);
    const { body: requested } = await service.request('POST', `/api/${GOOD}/v1/ask`, null);
    expect(requested['own']).to.equal(1);
    await waitUntil('all failed', async () => {
      const all = await states();
      const left = Object.keys(LATER).filter((id) => all[id]?.state !== 'failed');
      return left.length === 0;
    });
    for (const [id, { reason }] of Object.entries(LATER)) {
      expect((await states())[id]?.reason, id).to.match(reason);
      expect((await service.request('GET', `/api/${id}/v1/ok`, null)).status, id).to.equal(503);
    }
    expect((await states())[GOOD]?.state).to.equal('ready');
    const { body } = await service.request('GET', '/api/health', 'shared-key-for-tests-only-0123456789');
    expect(JSON.stringify((body['checks'] as { jobs: object }).jobs)).to.not.match(/timerthrows|rejects/);
    expect(service.child?.exitCode).to.equal(null);
  });

  it('are logged each time they throw', () => {
    const lines = service.stdout.split('\n').filter((line) => line.includes('"plugin":"throwsagain"'));
    expect(lines.filter((line) => line.includes('thrown again')).length).to.be.greaterThan(1);
  });

  it('do not affect the state of a built-in plugin whose id their entry uses', async () => {
    const all = await states();
    expect(all['bugs']?.state).to.equal('ready');
    expect(all['plugins: bugs']?.reason).to.match(/no package or file with this name/);
    expect((await service.request('GET', '/bugs/nothing/at/all', null)).status).to.equal(404);
  });

  it('cannot take over paths of a running plugin', async () => {
    // Its code names a route of another plugin, as a call of it does.
    expect((await service.request('GET', '/api/bugtracker/v1/nothing', null)).status).to.equal(404);
  });

  it('are reported by `aos doctor` next to the running service', async () => {
    const { code, stdout } = await runCli(service.env, ['doctor', '--json']);
    const { items } = JSON.parse(stdout) as { items: { check: string; ok: boolean; detail: string }[] };
    const faults = new Map(items.flatMap(({ check, ok, detail }) => (ok ? [] : [[check, detail]])));
    expect(code).to.equal(1);
    for (const id of ['setupthrows', 'timerthrows', './importthrows.mjs'])
      expect(faults.get(`plugin ${id}`), id).to.match(/^failed: .*out of order/);
  });

  it('start again after a renamed migration is removed from the history', async () => {
    await service.stop();
    const named = (name: string): Promise<void> =>
      writeFile(
        join(folder, 'renames.mjs'),
        `export default { id: 'renames', version: '1.0.0', api: 1, title: 'Renames',
          migrations: [{ number: 1, name: '${name}', run: async () => {} }], ${setup('renames')} };`,
      );
    await named('first');
    await writeFile(service.env['SVC_CONFIG'] ?? '', JSON.stringify({ plugins: ['./renames.mjs'] }));
    await service.start();
    expect((await service.request('GET', '/api/renames/v1/ok', null)).status).to.equal(200);
    await service.stop();
    await named('second');
    await service.start();
    expect((await service.request('GET', '/api/renames/v1/ok', null)).status).to.equal(503);
    expect((await states())['renames']?.reason).to.include('run `aos plugin forget renames`');
    await service.stop();
    const migrated = await runCli(service.env, ['migrate']);
    expect([migrated.code, migrated.stderr]).to.satisfy(
      ([code, stderr]: [number, string]) => code === 1 && stderr.includes('aos plugin forget renames'),
      migrated.stderr,
    );
    const forgot = await runCliJson(service.env, ['plugin', 'forget', 'renames']);
    expect(forgot).to.deep.equal({ id: 'renames', forgotten: ['renames:001-first'] });
    await service.start();
    expect((await service.request('GET', '/api/renames/v1/ok', null)).status).to.equal(200);
    const own = await runCli(service.env, ['plugin', 'forget', 'bugs']);
    expect([own.code, own.stderr]).to.satisfy(
      ([code, stderr]: [number, string]) => code === 1 && stderr.includes('bugs is a built-in plugin'),
    );
  });
});
