/** Configuration as code (contract 97, apply): plans, changes and faults. */
import { expect } from 'chai';
import { PluginStores, type OpenedStore } from '../../support/stores.js';
import { ApplyFixture, listActions, type Action } from './fixture.js';

const DOCUMENT = `
version: 1
projects:
  - slug: shop
    name: The shop
monitors:
  - { source: web-1, name: Web, interval_seconds: 60, project: shop, tags: [web, eu] }
  - { source: nightly, schedule: "0 3 * * *", timezone: Europe/Berlin, grace_seconds: 600, parent_source: web-1 }
channels:
  - { name: on call, kind: slack, target: "https://hooks.slack.example/x/secret-path", events: [monitor.down] }
webhooks:
  - { name: chat, url: "https://chat.example.com/hook", events: "monitor.down,bug.created", secret: "0123456789" }
ignore_rules:
  - { name: resets, match_type: contains, pattern: ECONNRESET, reason: Clients that disconnect, project: shop }
maintenance:
  - { reason: nightly backup, sources: [web-1], schedule: "0 2 * * *", duration_seconds: 3600 }
  - { reason: new disks, subtree: web-1, from: "2027-01-01T00:00:00Z", until: "2027-01-01T06:00:00+01:00" }
status_pages:
  - { slug: status, title: Shop status, password: visitors-only, components: [{ name: Web, sources: [web-1] }] }
grouping_rules:
  - { project: shop, name: timeouts, message: "timeout of (\\\\w+)", fingerprint: [timeout, "{{ 1 }}"] }
agent_rules:
  - { project: shop, agent: fixer, severity: high }
`;

const CREATED = [
  'create projects shop',
  'create monitors web-1',
  'create monitors nightly',
  'create maintenance nightly backup',
  'create maintenance new disks',
  'create status_pages status',
  'create channels on call',
  'create webhooks chat',
  'create ignore_rules resets',
  'create grouping_rules shop/timeouts',
  'create agent_rules fixer of shop',
];

const toUnchanged = (line: string): string => line.replace('create', 'unchanged');

for (const engine of new PluginStores('apply', []).all) {
  describe(`apply (${engine.name})`, function () {
    let opened: OpenedStore;
    let fixture: ApplyFixture;

    beforeEach(async function () {
      opened = await engine.open(() => this.skip());
      fixture = await ApplyFixture.open(opened.store);
    });
    afterEach(async () => {
      await fixture?.stop();
      await opened?.close();
    });

    it('creates what the document names, and changes nothing the second time', async () => {
      const first = await fixture.apply(DOCUMENT);
      expect(first.status, first.text).to.equal(200);
      expect(listActions(first)).to.deep.equal(CREATED);
      expect(first.json['applied']).to.equal(true);
      const again = await fixture.apply(DOCUMENT);
      expect(listActions(again), again.text).to.deep.equal(CREATED.map(toUnchanged));
      const project = await fixture.get('/api/projects/v1/projects/shop');
      expect(project.json['project']).to.include({ name: 'The shop', managed: true });
    });

    it('changes nothing in a dry run', async () => {
      const planned = await fixture.apply(DOCUMENT, '?dry_run=1');
      expect(listActions(planned)).to.deep.equal(CREATED);
      expect(planned.json['applied']).to.equal(false);
      expect((await fixture.get('/api/projects/v1/projects/shop')).status).to.equal(404);
    });

    it('updates only the fields that differ, and masks secrets', async () => {
      await fixture.apply(DOCUMENT);
      const changed = DOCUMENT.replace('interval_seconds: 60', 'interval_seconds: 30')
        .replace('"0123456789"', '"9876543210"')
        .replace('secret-path', 'other-path');
      const answer = await fixture.apply(changed);
      const updates = (answer.json['plan'] as Action[]).filter(({ action }) => action === 'update');
      expect(updates.map(({ name, changes }) => [name, changes])).to.deep.equal([
        ['web-1', [{ field: 'interval_seconds', from: 60, to: 30 }]],
        ['on call', [{ field: 'target', from: '(secret)', to: '(secret)' }]],
        ['chat', [{ field: 'secret', from: '(secret)', to: '(secret)' }]],
      ]);
      expect(answer.text).not.to.include('other-path').and.not.to.include('9876543210');
      expect(listActions(await fixture.apply(changed))).to.deep.equal(CREATED.map(toUnchanged));
    });

    it('deletes with prune only what an earlier apply created', async () => {
      await fixture.apply(DOCUMENT);
      await fixture.http.api('POST', '/api/watchdog/v1/monitors', fixture.token, { source: 'by-hand' });
      const rest = 'version: 1\nprojects: [{slug: shop}]\n';
      expect(listActions(await fixture.apply(rest))).to.deep.equal(['unchanged projects shop']);
      expect((await fixture.get('/api/watchdog/v1/monitors/web-1')).json['monitor']).to.include({ managed: true });
      const pruned = await fixture.apply(rest, '?prune=1');
      expect(listActions(pruned), pruned.text).to.deep.equal([
        'unchanged projects shop',
        'delete agent_rules fixer of shop',
        'delete grouping_rules shop/timeouts',
        'delete ignore_rules resets',
        'delete webhooks chat',
        'delete channels on call',
        'delete status_pages status',
        'delete maintenance nightly backup',
        'delete maintenance new disks',
        'delete monitors nightly',
        'delete monitors web-1',
      ]);
      expect((await fixture.get('/api/watchdog/v1/monitors/web-1')).status).to.equal(404);
      const kept = await fixture.get('/api/watchdog/v1/monitors/by-hand');
      expect(kept.json['monitor']).not.to.have.property('managed');
      const remade = await fixture.http.api('POST', '/api/watchdog/v1/monitors', fixture.token, { source: 'web-1' });
      expect(remade.json['monitor'], 'a later monitor of this source').not.to.have.property('managed');
    });

    it('exports a document that applies as unchanged', async () => {
      await fixture.apply(DOCUMENT);
      const exported = await fixture.get('/api/admin/v1/config');
      expect(exported.json['secrets']).to.deep.equal([
        'status_pages[0].password',
        'channels[0].target',
        'webhooks[0].secret',
      ]);
      expect(exported.text).not.to.include('secret-path');
      const again = await fixture.apply(exported.json['document'] as object);
      expect(again.status, again.text).to.equal(200);
      const actions = new Set((again.json['plan'] as Action[]).map(({ action }) => action));
      expect([...actions], again.text).to.deep.equal(['unchanged']);
      const one = await fixture.get('/api/admin/v1/config?project=shop');
      const { monitors } = one.json['document'] as { monitors: { source: string }[] };
      expect(monitors.map(({ source }) => source)).to.deep.equal(['web-1']);
    });

    it('replaces a changed window, and leaves out one that is over', async () => {
      await fixture.apply(DOCUMENT);
      const longer = DOCUMENT.replace('duration_seconds: 3600', 'duration_seconds: 7200');
      const changed = await fixture.apply(longer);
      const update = (changed.json['plan'] as Action[]).find(({ action }) => action === 'update');
      expect(update?.changes, changed.text).to.deep.equal([{ field: 'duration_seconds', from: 3600, to: 7200 }]);
      const { items } = (await fixture.get('/api/watchdog/v1/maintenance')).json as { items: { managed?: true }[] };
      expect(items.map(({ managed }) => managed)).to.deep.equal([true, true]);
      const over = 'version: 1\nmaintenance: [{reason: past, sources: [web-1], until: "2020-01-01T00:00:00Z"}]';
      const answer = await fixture.apply(over);
      expect(answer.json['plan'], answer.text).to.deep.equal([]);
      expect(answer.json['warnings']).to.deep.equal(['maintenance[0]: past has ended and was omitted']);
    });

    it('completes an interrupted apply when it is repeated', async () => {
      await fixture.apply('version: 1\nprojects: [{slug: shop, name: The shop}]\n');
      const rest = await fixture.apply(DOCUMENT);
      expect(listActions(rest)).to.deep.equal(['unchanged projects shop', ...CREATED.slice(1)]);
    });
  });
}

describe('apply: rejected documents', () => {
  let fixture: ApplyFixture;
  before(async () => {
    fixture = await ApplyFixture.open();
  });
  after(() => fixture.stop());

  const FAULTS: [title: string, document: string | object, path: string][] = [
    ['an unknown field', 'version: 1\nmonitors: [{source: a}, {source: b, interval: 5}]', 'monitors[1].interval'],
    [
      'a value of another type',
      { version: 1, monitors: [{ source: 'a', interval_seconds: '60' }] },
      'monitors[0].interval_seconds',
    ],
    [
      'a value out of range',
      'version: 1\nmonitors: [{source: a, interval_seconds: 0}]',
      'monitors[0].interval_seconds',
    ],
    ['a wrong element of a list', 'version: 1\nmonitors: [{source: a, tags: [ok, 7]}]', 'monitors[0].tags[1]'],
    ['an invalid schedule', 'version: 1\nmonitors: [{source: a, schedule: "61 * * * *"}]', 'monitors[0].schedule'],
    ['a missing name', 'version: 1\nprojects: [{name: Shop}]', 'projects[0].slug'],
    ['a name that is given twice', 'version: 1\nmonitors: [{source: a}, {source: a}]', 'monitors[1].source'],
    ['an unknown project', 'version: 1\nmonitors: [{source: a, project: none}]', 'monitors[0].project'],
    [
      'an unknown event',
      'version: 1\nwebhooks: [{name: a, url: "https://a.example", events: nothing}]',
      'webhooks[0].events',
    ],
    [
      'a rule without a reason',
      'version: 1\nignore_rules: [{name: a, match_type: contains, pattern: x}]',
      'ignore_rules[0].reason',
    ],
    [
      'a pattern that does not compile',
      'version: 1\nignore_rules: [{name: a, match_type: regex, pattern: "(", reason: x}]',
      'ignore_rules[0].pattern',
    ],
    ['a channel without a target', 'version: 1\nchannels: [{name: a, kind: slack}]', 'channels[0].target'],
    ['an unresolved reference', 'version: 1\nprojects: [{slug: a, name: "x ${env:NAME}"}]', 'projects[0].name'],
    [
      'an unresolved file',
      'version: 1\nwebhooks: [{name: a, url: "https://a.example", events: "*", secret: "${file:x}"}]',
      'webhooks[0].secret',
    ],
    [
      'a component of an unknown monitor',
      'version: 1\nstatus_pages: [{slug: s, title: S, components: [{name: a, sources: [none]}]}]',
      'status_pages[0].components[0].sources',
    ],
    [
      'a grouping rule without a condition',
      'version: 1\nprojects: [{slug: g}]\ngrouping_rules: [{project: g, name: n, title: t}]',
      'grouping_rules[0].message',
    ],
    [
      'a window without a duration',
      'version: 1\nmonitors: [{source: w}]\nmaintenance: [{reason: r, sources: [w], schedule: "0 2 * * *"}]',
      'maintenance[0].duration_seconds',
    ],
    ['another version', 'version: 2\nprojects: []', 'version'],
    ['no version', 'projects: []', 'version'],
    ['an unknown section', 'version: 1\nmonitor: []', 'monitor'],
    ['a section that is no list', 'version: 1\nmonitors: {source: a}', 'monitors'],
    ['an entry that is no object', 'version: 1\nmonitors: [a]', 'monitors[0]'],
    ['a key that is given twice', 'version: 1\nversion: 1', 'document'],
    ['a syntax error', 'version: [1', 'document'],
    ['an unknown tag', 'version: !!js/function 1', 'document'],
    ['an empty body', '', 'document'],
    ['a list', '- version: 1', 'document'],
    ['a cycle of aliases', 'version: 1\nmonitors: &a [*a]', 'document'],
    [
      'multiplying aliases',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.replace(
        /./g,
        (c) =>
          `${c}: &${c} [${Array(9)
            .fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)
            .join(',')}]\n`,
      )}`,
      'document',
    ],
    ['deep nesting', `version: ${'['.repeat(100_000)}`, 'document'],
  ];
  for (const [title, document, path] of FAULTS)
    it(`names the path of ${title}`, async () => {
      const answer = await fixture.apply(document);
      expect(answer.status, answer.text).to.equal(422);
      expect(answer.json.error?.code).to.equal('validation_failed');
      expect(answer.json.error?.fields, answer.text).to.have.property(path);
    });

  it('changes nothing when any entry is wrong', async () => {
    const answer = await fixture.apply('version: 1\nprojects: [{slug: first}]\nmonitors: [{source: a, interval: 5}]');
    expect(answer.status).to.equal(422);
    expect((await fixture.get('/api/projects/v1/projects/first')).status).to.equal(404);
  });

  it('rejects a text with a live token', async () => {
    const answer = await fixture.apply({ version: 1, projects: [{ slug: 'leak', description: fixture.token }] });
    expect(answer.json.error?.fields).to.have.property('projects[0].description');
  });

  it('lets the event loop turn while it plans thousands of entries', async () => {
    const monitors = Array.from({ length: 2_000 }, (_, i) => ({ source: `many-${i}`, interval_seconds: 60 }));
    let turns = 0;
    let isPlanning = true;
    const count = (): void => {
      turns += 1;
      if (isPlanning) setImmediate(count);
    };
    setImmediate(count);
    const answer = await fixture.apply({ version: 1, monitors }, '?dry_run=1').finally(() => (isPlanning = false));
    expect(answer.status, answer.text.slice(0, 200)).to.equal(200);
    expect(turns).to.be.above(300);
  });

  it('names at most fifty wrong sections', async () => {
    const sections = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`s${i}`, []]));
    const answer = await fixture.apply({ version: 1, ...sections });
    expect(answer.status).to.equal(422);
    expect(Object.keys(answer.json.error?.fields ?? {})).to.have.length(50);
  });

  it('rejects a body of more than 1 MiB', async () => {
    expect((await fixture.apply(`version: 1\n# ${'x'.repeat(1 << 20)}`)).status).to.equal(413);
  });

  it('requires system:manage or an administrator', async () => {
    const other = await fixture.http.token(['projects:manage']);
    expect((await fixture.apply('version: 1', '', other)).json.error?.code).to.equal('insufficient_scope');
  });

  it('limits a token of one project to that project', async () => {
    await fixture.apply('version: 1\nprojects: [{slug: mine}, {slug: theirs}]');
    const bound = await fixture.http.token(['system:manage'], 'mine');
    const foreign = await fixture.apply('version: 1\nprojects: [{slug: theirs, name: Other}]', '', bound);
    expect(foreign.json.error?.code, foreign.text).to.equal('insufficient_scope');
    const created = await fixture.apply('version: 1\nmonitors: [{source: own, project: mine}]', '', bound);
    expect(created.status, created.text).to.equal(200);
  });

  it('describes the document as JSON Schema', async () => {
    const { json } = await fixture.get('/api/admin/v1/config.schema.json', null);
    const { properties } = json as unknown as { properties: Record<string, { items?: { required: string[] } }> };
    expect(properties['monitors']?.items?.required).to.include('source');
    expect(properties['ignore_rules']?.items?.required).to.include.members(['name', 'pattern']);
  });
});
