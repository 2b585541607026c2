/**
 * What a plugin names and nobody has is told at its start, with place and mend: in a test and in
 * the service alike.
 */
import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BUILTIN } from '../../config/compose/compose.js';
import { boot, TestService as InMemory } from '../kit/index.js';
import { getRejection } from '../harness.js';
import { SHARED_KEY, TestService } from '../support/service.js';

const PAGE = `{ path: '/oncall', title: 'On call', access: { session: 'member' }, handle: () => new View('shifts') }`;
const FORM = '<form method="post" action="/oncall">{{> csrf}}</form>';

interface Planted {
  /** Members of what setup returns. */
  parts?: string;
  /** Statements before it. */
  before?: string;
  views?: Record<string, string>;
  more?: Record<string, string>;
}

const code = ({ parts = `pages: [${PAGE}]`, before = '' }: Planted): string => `
import { joi, View } from 'aos/plugin';
${before}
export default {
  id: 'oncall', version: '1.0.0', api: 1, title: 'On call', scopes: ['oncall:read'],
  setup(ctx) { return { ${parts} }; },
};
`;

describe('plugin validation at startup', () => {
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  async function planted(fault: Planted): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'aos-fault-'));
    folders.push(folder);
    const files = {
      'package.json': '{ "name": "oncall", "type": "module", "exports": "./src/plugin.js" }',
      'src/plugin.js': code(fault),
      ...Object.fromEntries(
        Object.entries(fault.views ?? { shifts: FORM }).map(([name, text]) => [`views/${name}.hbs`, text]),
      ),
      ...fault.more,
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return folder;
  }

  const POST = `{ method: 'POST', path: '/oncall', title: 'On call', access: { session: 'member' }, handle: () => new View('shifts') }`;
  const both = (extra = ''): string => `pages: [${PAGE}, ${POST}]${extra}`;

  const cases: [what: string, fault: Planted, says: RegExp][] = [
    [
      'a missing view',
      { parts: both(), views: { shift: '' } },
      /src\/plugin\.js:6 renders the view "shifts", but views\/shifts\.hbs does not exist: .*: shift$/,
    ],
    [
      'a missing view of a panel, in another module',
      {
        parts: both(', panels: [panel]'),
        before: `import { panel } from './panel.js';`,
        more: {
          'src/panel.js': `import { View } from 'aos/plugin';\nexport const panel = { id: 'now', kind: 'trend', order: 1, load: async () => new View("nwo") };`,
        },
      },
      /src\/panel\.js:2 renders the view "nwo"/,
    ],
    [
      'a missing partial',
      { parts: both(), views: { shifts: `\n{{> feild name="a"}}` } },
      /views\/shifts\.hbs:2 uses the partial "feild", which does not exist; available partials: alert, /,
    ],
    [
      'a part of another plugin',
      { parts: both(), views: { shifts: `{{> bugs/facts this}}{{> oncall/row this}}`, 'parts/row': '{{name}}' } },
      /views\/shifts\.hbs:1 uses the partial "bugs\/facts", which does not exist; available partials: .*, oncall\/row/,
    ],
    [
      'an unknown helper',
      { parts: both(), views: { shifts: `{{tmie at}}` } },
      /views\/shifts\.hbs:1 uses the helper "tmie"/,
    ],
    [
      'a view that does not parse',
      { parts: both(), views: { shifts: `{{#if a}}` } },
      /views\/shifts\.hbs cannot be read: Parse error on line 1/,
    ],
    [
      'an unknown icon in the navigation',
      {
        parts: `pages: [{ ...${PAGE}, nav: { section: 'work', label: 'On call', icon: 'phone', order: 1 } }, ${POST}]`,
      },
      /page GET \/oncall: icon "phone" does not exist: web\/README\.md lists them/,
    ],
    [
      'an unknown group of the settings',
      {
        parts: `pages: [{ ...${PAGE}, nav: { section: 'administration', group: 'chat', label: 'On call', icon: 'clock', order: 1 } }, ${POST}]`,
      },
      /page GET \/oncall: .*nav\.group.* must be one of .*alerts/,
    ],
    [
      'an unknown icon in a view',
      { parts: both(), views: { shifts: `{{icon "phone"}}` } },
      /views\/shifts\.hbs:1 icon "phone" does not exist/,
    ],
    [
      'a form without its token',
      {
        parts: both(),
        views: { shifts: `\n\n<form class="x" method="post" action="/oncall">{{> field name="a" label="A"}}</form>` },
      },
      /views\/shifts\.hbs:3 has a form without its token, .*: add \{\{> csrf\}\} to it/,
    ],
    [
      'a form that no page accepts',
      { parts: both(), views: { shifts: `<form method="post" action="/oncall/{{id}}/ende">{{> csrf}}</form>` } },
      /views\/shifts\.hbs:1 sends a form to \/oncall\/…\/ende, which has no page with method POST/,
    ],
    [
      'a confirmation that no page accepts',
      { parts: both(), views: { shifts: `{{> confirm action="/oncall/end" label="End"}}` } },
      /views\/shifts\.hbs:1 sends a form to \/oncall\/end/,
    ],
    [
      'a job that is not there',
      { parts: both(`, jobs: [{ name: 'remind', everyMs: 1000, run: () => ctx.ports.jobs.enqueue('remnid', null) }]`) },
      /src\/plugin\.js:6 enqueues the job "remnid", which setup does not return: .*: remind$/,
    ],
    [
      'two routes of one path',
      { parts: `pages: [${PAGE}, ${PAGE}]` },
      /page GET \/oncall: GET \/oncall is already mounted by this plugin/,
    ],
    [
      'a path in the manner of another framework',
      { parts: `pages: [{ ...${PAGE}, path: '/oncall/:id' }]` },
      /path has a parameter with a colon: write its name in braces/,
    ],
    [
      'a path with a brace too few',
      { parts: `pages: [{ ...${PAGE}, path: '/oncall/{id' }]` },
      /path is not a valid path/,
    ],
    [
      'a parameter that the path has not',
      { parts: `pages: [{ ...${PAGE}, input: { params: joi.object({ shift: joi.string() }) } }]` },
      /input\.params has "shift", which is not in the path/,
    ],
    [
      'an invalid schema',
      {
        parts: `routes: [{ method: 'GET', path: '/api/oncall/v1/x', summary: 'x', access: { scope: 'oncall:read' }, input: { query: { a: 1 } }, handle: () => ({}) }]`,
      },
      /input\.query must be a joi schema: import `joi` from aos\/plugin/,
    ],
    [
      'a cron text that cannot be read',
      { parts: both(`, jobs: [{ name: 'remind', cron: 'each monday', run: async () => {} }]`) },
      /job remind: cron must have five fields/,
    ],
  ];
  for (const [what, fault, says] of cases) {
    it(`reports ${what}`, async () => {
      const { message } = await getRejection(boot([await planted(fault)]));
      expect(message)
        .to.match(says)
        .and.match(/^plugin oncall failed: /);
      expect(message.split('\n')).to.have.length(1);
    });
  }

  it('reports nothing for a valid plugin, and ignores names in comments and strings', async () => {
    const before = `// new View('old'), jobs.enqueue('old')\nconst text = "/* not a comment"; /* new View('older') */`;
    const service = await boot([await planted({ parts: both(), before })]);
    expect((await service.request('GET', '/oncall', { as: 'member' })).status).to.equal(200);
    await service.stop();
  });

  it('rejects an undeclared job name when the job is enqueued', async () => {
    const route = `{ method: 'POST', path: '/api/oncall/v1/x', summary: 'x', access: 'public', handle: ({ query }) => ctx.ports.jobs.enqueue(name).then(() => ({})) }`;
    const before = `const name = ['no', 'body'].join('');`;
    const service = await boot([await planted({ parts: `routes: [${route}]`, before })]);
    expect((await service.request('POST', '/api/oncall/v1/x')).status).to.equal(500);
    const line = service.log.lines.find(({ level }) => level === 'error');
    expect(String(line?.data['err'])).to.include('plugin oncall has no job "nobody": define it in `jobs`');
    await service.stop();
  });

  it('reports nothing for the built-in plugins', async () => {
    const service = new InMemory(BUILTIN, {});
    await service.start();
    await service.stop();
  });

  it('marks the plugin as failed in the service, which continues', async () => {
    const folder = await planted({ parts: both(), views: { shift: '' } });
    await writeFile(join(folder, 'aos.json'), JSON.stringify({ plugins: [folder] }));
    const service = await TestService.createInProcess({ SVC_CONFIG: join(folder, 'aos.json') });
    try {
      const { body } = await service.request('GET', '/api/health', SHARED_KEY);
      const { plugins } = body['checks'] as { plugins: Record<string, { state: string; reason: string }> };
      expect(plugins['oncall']).to.include({ state: 'failed' });
      expect(plugins['oncall']?.reason).to.include('renders the view "shifts"');
      expect((await fetch(`${service.url}/oncall`)).status).to.equal(503);
      expect((await fetch(`${service.url}/login`)).status).to.equal(200);
    } finally {
      await service.dispose();
    }
  });
});
