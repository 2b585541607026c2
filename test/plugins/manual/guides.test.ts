/** The guides inside the service: index, pages, pictures, search. */
import { expect } from 'chai';
import { MemoryManual } from '../../../adapters/memory/manual.js';
import { GuideIndex } from '../../../plugins/manual/guides.js';
import { parseSections } from '../../../plugins/manual/sections.js';
import manual from '../../../plugins/manual/plugin.js';
import { boot, type TestService } from '../../kit/boot.js';

const GUIDES = {
  operations:
    '# Operations\n\nHow to run it.\n\n## Storage\n\nWhere `storage.url` leads.\n\n```sh\n# Storage of no heading\n```\n\n## Storage\n\nAgain.\n',
  keys: '# Keys\n\nWhat each key opens.\n\n## Release key\n\nSigns the storage of packages.\n',
  'decisions/001-threads': '# 001 — Threads\n\nStorage on a thread.\n',
  'decisions/README': '# Decisions\n\nContents.\n',
  stray: 'No title.\n',
  README: '# All guides\n\n## Operate\n\n- [Operations](operations.md) and [keys](keys.md)\n',
};

describe('sections of a guide', () => {
  it('end at the next heading, skip code blocks, and number duplicate anchors', () => {
    const sections = parseSections({ name: 'operations', text: GUIDES.operations });
    expect(sections.map(({ heading, level, anchor }) => [heading, level, anchor])).to.deep.equal([
      ['Operations', 1, ''],
      ['Storage', 2, 'storage'],
      ['Storage', 2, 'storage-1'],
    ]);
    expect(sections[1]?.text).to.include('# Storage of no heading');
  });
});

describe('the guides', () => {
  const guides = new GuideIndex(new MemoryManual(GUIDES));

  it('are grouped by the sections of their index, with all others at the end', async () => {
    const groups = await guides.listGroups();
    expect(groups.map(({ title, guides: g }) => [title, g.map(({ name }) => name)])).to.deep.equal([
      ['Operate', ['operations', 'keys']],
      ['More', ['stray']],
      ['Decisions and specification', ['decisions/README']],
    ]);
    expect(groups[0]?.guides[0]).to.deep.equal({ name: 'operations', title: 'Operations', text: 'How to run it.' });
  });

  it('are found by all words of a query, headings first', async () => {
    const hits = await guides.search(['storage'], 10);
    expect(hits.map(({ href }) => href)).to.deep.equal([
      '/docs/operations#storage',
      '/docs/operations#storage-1',
      '/docs/keys#release-key',
      '/docs/decisions/001-threads',
    ]);
    expect(hits[2]).to.deep.equal({
      title: 'Keys › Release key',
      href: '/docs/keys#release-key',
      detail: 'Signs the storage of packages.',
    });
    expect(await guides.search(['storage', 'zebra'], 10)).to.deep.equal([]);
    expect(await guides.search(['storage'], 1)).to.have.length(1);
  });
});

describe('the pages of the manual', () => {
  let service: TestService;
  before(async () => {
    service = await boot([manual]);
  });
  after(() => service.stop());

  it('are available to every signed-in user', async () => {
    expect((await service.request('GET', '/docs', { as: 'member' })).status).to.equal(200);
    const { status, headers } = await service.request('GET', '/docs');
    expect([status, headers['location']?.toString().startsWith('/login')]).to.deep.equal([303, true]);
  });

  it('return an error that names the missing guide, picture or section', async () => {
    for (const path of ['/docs/nothing', '/docs/decisions/nothing', '/docs/spec/nothing', '/docs/images/nothing.png']) {
      expect((await service.request('GET', path, { as: 'member' })).status, path).to.equal(404);
    }
    for (const path of ['/docs/..%2Fpackage', '/docs/images/..%2F..%2Fpackage.json', '/docs/api/nothing']) {
      expect((await service.request('GET', path, { as: 'member' })).status, path).to.be.oneOf([400, 404]);
    }
  });
});
