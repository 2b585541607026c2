/** Files that the agent wrote before, read by it again: whatever another program made of them. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readHead, type JournalHead } from '../../../clients/agent/apply/journal.js';
import type { InstallationLayout } from '../../../clients/agent/layout.js';
import { createState, readState, type TrustState } from '../../../clients/agent/trust/state.js';
import { getRejection } from '../../harness.js';

const SPKI = Buffer.from('a public key');
const HASH = createHash('sha256').update(SPKI).digest('hex');
const OLD = { kind: 'file', sha256: HASH, mode: '0644', uid: 0, gid: 0 } as const;
const FILE = { path: 'app/main.js', old: OLD, new: { sha256: HASH, mode: '0644' } };

describe('update-agent: stored files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-agent-files-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  describe('state.json', () => {
    const PINNED: TrustState = { ...createState(), pin: { sha256: HASH, spki: SPKI.toString('base64') } };
    const read = async (state: object): Promise<TrustState> => {
      await writeFile(join(folder, 'state.json'), JSON.stringify(state));
      return readState(join(folder, 'state.json'));
    };

    it('is read as written', async () => expect(await read(PINNED)).to.deep.equal(PINNED));

    for (const [what, change] of [
      ['a key that is not the pinned one', { pin: { sha256: HASH, spki: Buffer.from('another').toString('base64') } }],
      ['an invalid hash', { pin: { sha256: 'abc', spki: null } }],
      ['a former key that is no hash', { former_keys: ['abc'] }],
      ['an invalid version', { highest_version: 'latest' }],
      ['a statement without a time', { statements: { stable: 'never' } }],
      ['another schema', { schema: 2 }],
    ] as const)
      it(`is rejected with ${what}`, async () => {
        const error = await getRejection(read({ ...PINNED, ...change }));
        expect(error).to.include({ outcome: 'unverified' });
        expect(error.message).to.contain('its fields are not valid');
      });
  });

  describe('journal.jsonl', () => {
    const HEAD: JournalHead = {
      schema: 1,
      tx: '0123abcd',
      product: 'shop',
      platform: 'any',
      from: '1.0.0',
      to: '1.1.0',
      manifest_sha256: HASH,
      links: true,
      started_at: '2026-01-01T00:00:00.000Z',
      plan: { removals: [FILE], emptied: [], directories: ['app'], files: [FILE] },
    };
    const read = async (head: object): Promise<JournalHead | string> => {
      const journal = join(folder, 'journal.jsonl');
      await writeFile(journal, `${JSON.stringify(head)}\n{"step":"cut of`);
      return readHead({ journal } as InstallationLayout);
    };
    const planned = (plan: object): object => ({ ...HEAD, plan: { ...HEAD.plan, ...plan } });

    it('contains the plan in its first line for any steps', async () => expect(await read(HEAD)).to.deep.equal(HEAD));

    for (const [what, head] of [
      ['a directory outside', planned({ directories: ['../etc'] })],
      ['a file outside', planned({ files: [{ ...FILE, path: '/etc/passwd' }] })],
      ['a removal outside', planned({ removals: [{ ...FILE, path: 'app/../../x' }] })],
      ['another spelling outside', planned({ files: [{ ...FILE, found: '../main.js' }] })],
      ['a copy that is stored outside', planned({ files: [{ ...FILE, keptAs: '../main.js.local' }] })],
      ['an emptied directory outside', planned({ emptied: [{ path: '..', mode: '0755', uid: 0, gid: 0 }] })],
      ['an invalid mode', planned({ files: [{ ...FILE, old: { ...OLD, mode: '7777777' } }] })],
      ['a transaction that is a path', { ...HEAD, tx: '../../../x' }],
      ['an invalid version', { ...HEAD, to: 'latest' }],
      ['another schema', { ...HEAD, schema: 2 }],
    ] as const)
      it(`is unreadable with ${what}`, async () => expect(await read(head)).to.equal('unreadable'));
  });
});
