import { expect } from 'chai';
import {
  parseFreshness,
  findFreshnessFault,
  type FreshnessContext,
  type FreshnessStatement,
} from '../../../lib/formats/freshness.js';

const HASH = 'a'.repeat(64);
const statement: FreshnessStatement = {
  schema: 1,
  product: 'shop',
  channel: 'stable',
  latest: {
    any: null,
    'win-x64': { version: '3.0', manifest_sha256: HASH },
    'linux-x64': { version: '2.0', manifest_sha256: HASH },
    'linux-arm64': null,
  },
  steps: [],
  issued_at: '2026-11-20T10:00:00.000Z',
  expires_at: '2026-11-27T10:00:00.000Z',
};
const facts: FreshnessContext = {
  product: 'shop',
  channel: 'stable',
  platform: 'linux-x64',
  current: '1.0',
  offered: { version: '2.0', manifestSha256: HASH },
  newestSeen: null,
  now: Date.parse('2026-11-21T10:00:00Z'),
};

describe('freshness statements', () => {
  it('are parsed as they are written', () => {
    expect(parseFreshness(JSON.stringify(statement))).to.deep.equal(statement);
    const broken: object[] = [
      { schema: 2 },
      { latest: { any: null } },
      { latest: null },
      { steps: {} },
      { steps: [{ version: 'x', min_version: null }] },
      { issued_at: 'now' },
      { expires_at: 7 },
      { product: null },
      { latest: { ...statement.latest, any: { version: '1.0', manifest_sha256: 'short' } } },
    ];
    for (const change of broken)
      expect(parseFreshness(JSON.stringify({ ...statement, ...change })), JSON.stringify(change)).to.equal(null);
    for (const text of ['', '[]', 'null', '{']) expect(parseFreshness(text)).to.equal(null);
  });

  const cases: [
    what: string,
    statement: Partial<FreshnessStatement>,
    facts: Partial<FreshnessContext>,
    why: RegExp | null,
  ][] = [
    ['vouch for the release that was offered', {}, {}, null],
    ['vouch for the newest that is installed', {}, { current: '2.0.0', offered: null }, null],
    ['vouch for a rollout that they do not name yet', {}, { offered: { version: '2.1', manifestSha256: 'b' } }, null],
    ['vouch for a platform without releases', {}, { platform: 'linux-arm64', offered: null }, null],
    ['of another product', { product: 'other' }, {}, /another product/],
    ['of another channel', { channel: 'beta' }, {}, /another channel/],
    ['that have expired', {}, { now: Date.parse('2026-11-27T10:00:00Z') }, /expired/],
    ['older than the newest one seen', {}, { newestSeen: '2026-11-20T10:00:00.001Z' }, /older/],
    ['as old as the newest one seen', {}, { newestSeen: '2026-11-20T10:00:00Z' }, null],
    ['that name more than was offered', {}, { offered: { version: '1.5', manifestSha256: HASH } }, /for version 2\.0/],
    ['that name something where nothing was offered', {}, { offered: null }, /offered nothing/],
    [
      'with another manifest',
      {},
      { offered: { version: '2.0', manifestSha256: 'b'.repeat(64) } },
      /a different manifest/,
    ],
    [
      'that say the newest is out of reach',
      { steps: [{ version: '2.0', min_version: '1.5' }] },
      { offered: { version: '1.5', manifestSha256: HASH } },
      null,
    ],
    [
      'that say a step is in reach',
      { steps: [{ version: '2.0', min_version: '1.0' }] },
      { offered: { version: '1.5', manifestSha256: HASH } },
      /for version 2\.0/,
    ],
    [
      'that know a step between',
      {
        steps: [
          { version: '2.0', min_version: '1.8' },
          { version: '1.8', min_version: '1.0' },
        ],
      },
      { offered: { version: '1.5', manifestSha256: HASH } },
      /for version 2\.0/,
    ],
  ];
  for (const [what, change, known, why] of cases)
    it(what, () => {
      const said = findFreshnessFault({ ...statement, ...change }, { ...facts, ...known });
      if (why === null) expect(said).to.equal(null);
      else expect(said).to.match(why);
    });
});
